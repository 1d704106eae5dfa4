import { expect, test } from 'vitest';
import { bench } from './bench.js';
import { chart } from './chart.js';
import { GROUPS } from './groups/index.js';
import { SCALES } from './scales.js';
import { asText, ratioTable } from './table.js';

test('every group of the benchmark measures something and finds that both sides agree', {
  timeout: 120_000,
}, async () => {
  const { rows, curves, loads } = await bench({ scale: SCALES.tiny });
  expect(new Set(rows.map(({ group }) => group))).toEqual(new Set(Object.keys(GROUPS)));
  expect(rows.filter(({ agrees }) => !agrees)).toEqual([]);
  expect(rows.filter(({ ratio }) => !Number.isFinite(ratio))).toEqual([]);
  expect(asText(ratioTable(rows)).split('\n')).toHaveLength(rows.length + 1);
  expect(curves.map(({ name, points }) => [name, points.length])).toEqual([
    ['grep', 3],
    ['glob', 3],
    ['list', 3],
    ['read', 3],
    ['write', 3],
  ]);
  expect(loads.map(({ clients }) => clients)).toEqual([1, 10, 50, 200, 1, 10, 50, 200]);
  expect(chart({ curves, loads }).match(/<polyline class="ours"/g)).toHaveLength(curves.length + 2);
  expect(loads.filter(({ ours, theirs }) => ours.failures + theirs.failures > 0)).toEqual([]);
});
