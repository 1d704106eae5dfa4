import { expect, test } from 'vitest';
import { finishesWithin } from './time-limit.ts';

test('a function that ends in time has its effects, and what it raises is passed on', () => {
  let ran = false;
  const run = (): void => {
    ran = true;
  };
  expect(finishesWithin(10_000, run)).toBe(true);
  expect(ran).toBe(true);
  const error = new TypeError('mine');
  const fail = (): void => {
    throw error;
  };
  expect(() => finishesWithin(10_000, fail)).toThrow(error);
});

test('a function that does not end is interrupted', () => {
  let turns = 0;
  const forever = (): void => {
    for (;;) turns += 1;
  };
  expect(finishesWithin(20, forever)).toBe(false);
  expect(turns).toBeGreaterThan(0);
});
