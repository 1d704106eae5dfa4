import { expect, test } from 'vitest';
import { walkGuards } from '../support/guard-walk.ts';

const RUNS = 3_000;

test.each([
  ['workspace', 'openat2'],
  ['workspace', 'procfd'],
  ['memory', 'openat2'],
  ['memory', 'procfd'],
  ['classic', 'openat2'],
  ['classic', 'procfd'],
] as const)(
  'no random sequence of calls gets past the rules (%s, %s)',
  async (dialect, fence) => {
    const figures = await walkGuards(dialect, { fence, runs: RUNS });
    console.log(`guards, random calls, ${dialect}, ${fence}: ${JSON.stringify(figures)}`);
    expect([figures.succeeded > 1_000, figures.unused]).toEqual([true, []]);
  },
  600_000,
);
