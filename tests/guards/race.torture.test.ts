import { expect, test } from 'vitest';
import { raceGuards } from '../support/guard-race.ts';

const SECONDS = 30;

test.each([
  ['secret', 'openat2'],
  ['secret', 'procfd'],
  ['.git', 'openat2'],
  ['.git', 'procfd'],
] as const)(
  'a folder exchanged with a link to %s shows and changes nothing guarded (%s)',
  async (target, fence) => {
    const figures = await raceGuards(target, { fence, seconds: SECONDS });
    console.log(`guards, ${target}, ${fence}: ${JSON.stringify(figures)}`);
    expect(figures.exchanges).toBeGreaterThan(1_000);
    expect(figures.succeeded).toBeGreaterThan(1_000);
  },
  SECONDS * 4_000,
);
