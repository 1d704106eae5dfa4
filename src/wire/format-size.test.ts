import { expect, test } from 'vitest';
import { formatSize } from './format-size.ts';

test.each([
  [0, '0 bytes'],
  [500, '500 bytes'],
  [1023, '1023 bytes'],
  [1024, '1.0KB'],
  [1536, '1.5KB'],
  [1_048_575, '1.0MB'],
  [1_048_576, '1.0MB'],
  [5_452_595, '5.2MB'],
  [5 * 1024 ** 3, '5.0GB'],
  [3 * 1024 ** 4, '3.0TB'],
  [5000 * 1024 ** 4, '5000.0TB'],
])('%i is %s', (bytes, text) => {
  expect(formatSize(bytes)).toBe(text);
});

test.each([
  [0, '0B'],
  [1023, '1023B'],
  [4096, '4.0K'],
  [1_048_575, '1.0M'],
  [5000 * 1024 ** 4, '5000.0T'],
])('%i is %s in the short style', (bytes, text) => {
  expect(formatSize(bytes, 'short')).toBe(text);
});
