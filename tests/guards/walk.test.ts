import { expect, test } from 'vitest';
import { walkGuards } from '../support/guard-walk.ts';

test.each([
  ['workspace', 'openat2'],
  ['memory', 'procfd'],
  ['classic', 'portable'],
] as const)('no random sequence of calls gets past the rules (%s, %s)', async (dialect, fence) => {
  const { succeeded } = await walkGuards(dialect, { fence, runs: 60 });
  expect(succeeded).toBeGreaterThan(20);
});
