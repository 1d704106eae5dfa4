import { expect, test } from 'vitest';
import { parseDuration, parseSize } from './quantities.ts';

test.each([
  ['7d', 604_800_000],
  ['12h', 43_200_000],
  ['15m', 900_000],
  ['90s', 90_000],
  ['2w', 1_209_600_000],
  ['1.5 H', 5_400_000],
  ['90', 90_000],
  [90, 90_000],
  ['0d', undefined],
  [0, undefined],
  [-1, undefined],
  ['', undefined],
  ['d', undefined],
  ['7 days', undefined],
  ['1d 2h', undefined],
  ['1mb', undefined],
  ['toString', undefined],
  ['1constructor', undefined],
  ['1e300w', undefined],
  [Number.POSITIVE_INFINITY, undefined],
])('the duration %j', (written, ms) => {
  expect(parseDuration(written)).toBe(ms);
});

test.each([
  ['1GB', 1024 ** 3],
  ['500mb', 500 * 1024 ** 2],
  ['1.5 KiB', 1536],
  ['2TB', 2 * 1024 ** 4],
  ['10b', 10],
  [4096, 4096],
  ['4096', 4096],
  [0, undefined],
  [0.5, undefined],
  ['1d', undefined],
  ['GB', undefined],
  ['-1GB', undefined],
  ['99999999TB', undefined],
])('the size %j', (written, bytes) => {
  expect(parseSize(written)).toBe(bytes);
});
