import { expect, test } from 'vitest';
import { raceGuards } from '../support/guard-race.ts';

test.each([
  ['secret', 'openat2'],
  ['secret', 'procfd'],
  ['.git', 'openat2'],
  ['.git', 'procfd'],
] as const)('a folder exchanged with a link to %s shows and changes nothing guarded (%s)', async (target, fence) => {
  const { exchanges, succeeded } = await raceGuards(target, { fence, seconds: 1 });
  expect(exchanges).toBeGreaterThan(10);
  expect(succeeded).toBeGreaterThan(10);
});
