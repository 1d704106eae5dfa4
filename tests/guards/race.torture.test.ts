import { expect, test } from 'vitest';
import { raceMove } from '../support/guard-move-race.ts';
import { raceGuards } from '../support/guard-race.ts';

const SECONDS = 30;

test.each([
  ['secret', 'openat2'],
  ['secret', 'procfd'],
  ['.git', 'openat2'],
  ['.git', 'procfd'],
  ['.ringfence', 'openat2'],
  ['.ringfence', 'procfd'],
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

test.each([
  ['openat2', 'openat2'],
  ['procfd', 'procfd'],
  ['openat2', 'procfd'],
  ['procfd', 'openat2'],
] as const)(
  'nothing protected comes along with a folder that another process fills (%s, %s)',
  async (...fences) => {
    const figures = await raceMove(fences, SECONDS);
    console.log(`guards, folder moved while filled, ${fences}: ${JSON.stringify(figures)}`);
    expect([figures.moved > 10, figures.refused > 10, figures.broken]).toEqual([true, true, 0]);
  },
  SECONDS * 4_000,
);
