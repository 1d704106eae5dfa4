import { test } from 'vitest';
import { takeBackAll } from './take-back.ts';

const seed = Date.now() % 100_000;

test(
  `200 random changes by all dialects, with kills in between, are taken back whole (seed ${seed})`,
  {
    timeout: 120_000,
  },
  () => takeBackAll({ changes: 200, kills: 2, seed }),
);
