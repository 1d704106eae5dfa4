import { expect, test } from 'vitest';
import { bench } from './bench.js';
import { GROUPS } from './groups/index.js';
import { SCALES } from './scales.js';
import { table } from './table.js';

test('every group of the benchmark measures something and finds that both sides agree', {
  timeout: 60_000,
}, async () => {
  const { rows } = await bench({ scale: SCALES.tiny });
  expect(new Set(rows.map(({ group }) => group))).toEqual(new Set(Object.keys(GROUPS)));
  expect(rows.filter(({ agrees }) => !agrees)).toEqual([]);
  expect(rows.filter(({ ratio }) => !Number.isFinite(ratio))).toEqual([]);
  expect(table(rows).split('\n')).toHaveLength(rows.length + 1);
});
