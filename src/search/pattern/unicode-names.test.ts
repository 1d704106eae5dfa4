import { expect, test } from 'vitest';
import { compileRegex } from './regex.ts';
import { withShortNames } from './unicode-names.ts';

test.each<[pattern: string, matching: string, other: string]>([
  ['^\\p{Letter}+$', 'aÄ漢', '1'],
  ['^\\p{lowercase-letter}$', 'a', 'A'],
  ['^\\P{Letter}$', '1', 'a'],
  ['^[\\p{Decimal Number}x]+$', '1x', 'a'],
  ['^[^\\p{punct}]$', 'a', '!'],
  ['^\\p{^Letter}$', '1', 'a'],
  ['^\\p{greek}$', 'α', 'a'],
  ['^\\p{old italic}$', '\u{10300}', 'a'],
  ['^\\p{ASCII}$', 'a', 'ä'],
  ['^[\\P{ascii}b]$', 'b', 'a'],
  ['^[]\\p{Letter}]+$', ']a', '1'],
  ['^\\Q\\p{Letter}\\E\\p{Letter}$', '\\p{Letter}a', 'a'],
  ['^\\\\p{2}\\p{Letter}$', '\\ppa', 'a'],
])('%s', (pattern, matching, other) => {
  const regex = compileRegex(pattern);
  expect([regex.test(matching), regex.test(other)]).toEqual([true, false]);
});

test('a pattern without such names stays as it is', () => {
  for (const pattern of ['a[b]c', '\\p{L}', '[[:alpha:]\\]]', '\\Q[\\p{x}', '\\pN', '\\p{', '[']) {
    expect(withShortNames(pattern)).toBe(pattern);
  }
});

test('the error for a name that does not exist shows the name as it was written', () => {
  expect(() => compileRegex('\\p{no such}')).toThrow(
    expect.objectContaining({ details: { problem: expect.stringContaining('\\p{no such}') } }),
  );
});
