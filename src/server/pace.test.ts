import { expect, test } from 'vitest';
import { Pace } from './pace.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('requests begin in order, a few in each turn, with room for others in between', async () => {
  const pace = new Pace();
  const begun: number[] = [];
  for (let number = 0; number < 100; number += 1)
    void (async () => {
      await pace.turn();
      begun.push(number);
    })();
  const counts: number[] = [];
  while (begun.length < 100) {
    await turn();
    counts.push(begun.length);
  }
  expect(begun).toEqual(Array.from({ length: 100 }, (_, number) => number));
  expect(counts.length).toBeGreaterThan(5);
  expect(pace.turn()).toBeUndefined();
});

test('one that comes while others wait does not overtake them', async () => {
  const pace = new Pace();
  const begun: number[] = [];
  const begin = async (number: number): Promise<void> => {
    await pace.turn();
    begun.push(number);
  };
  const all = Array.from({ length: 40 }, (_, number) => begin(number));
  await turn();
  all.push(begin(40));
  await Promise.all(all);
  expect(begun.at(-1)).toBe(40);
});

test('alone it never waits', async () => {
  const pace = new Pace();
  for (let number = 0; number < 100; number += 1) {
    expect(pace.turn()).toBeUndefined();
    await turn();
    await turn();
  }
});
