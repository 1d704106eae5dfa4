import { expect, test } from 'vitest';
import { nearest } from './nearest.ts';

test.each([
  ['paht', 'path'],
  ['READ_FILE', 'read_file'],
  ['readfile', 'read_file'],
  ['x', undefined],
  ['completely_different', undefined],
  ['', undefined],
])('%j means %j', (word, meant) => {
  expect(nearest(word, ['path', 'read_file', 'write_file'])).toBe(meant);
});

test('a word of a million letters is truncated before the comparison', () => {
  expect(nearest('x'.repeat(1_000_000), ['path'])).toBeUndefined();
});
