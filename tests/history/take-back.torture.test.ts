import { test } from 'vitest';
import { takeBackAll } from './take-back.ts';

test.each([1, 2, 3, 4])(
  '5,000 random changes with 20 kills are taken back whole, seed %i',
  { timeout: 600_000 },
  (seed) => takeBackAll({ changes: 5_000, kills: 20, seed }),
);
