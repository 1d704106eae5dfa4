import { expect, test } from 'vitest';
import { raceMove } from '../support/guard-move-race.ts';
import { raceGuards } from '../support/guard-race.ts';

test.each([
  ['secret', 'openat2'],
  ['secret', 'procfd'],
  ['.git', 'openat2'],
  ['.git', 'procfd'],
  ['.ringfence', 'openat2'],
  ['.ringfence', 'procfd'],
] as const)('a folder exchanged with a link to %s shows and changes nothing guarded (%s)', async (target, fence) => {
  const { exchanges, succeeded } = await raceGuards(target, { fence, seconds: 1 });
  expect(exchanges).toBeGreaterThan(10);
  expect(succeeded).toBeGreaterThan(10);
});

test.each([
  ['openat2', 'procfd'],
  ['procfd', 'openat2'],
] as const)('nothing protected comes along with a folder that another process fills (%s, %s)', async (...fences) => {
  const { moved, refused, broken } = await raceMove(fences, 2);
  expect([moved + refused > 10, broken]).toEqual([true, 0]);
});
