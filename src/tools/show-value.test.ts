import { expect, test } from 'vitest';
import { showValue } from './show-value.ts';

test.each([
  ['word', 'word'],
  [5, '5'],
  [undefined, 'nothing'],
  [{ a: [1] }, '{"a":[1]}'],
  ['two\nlines', '"two\\nlines"'],
  ['x'.repeat(80), 'x'.repeat(80)],
  ['x'.repeat(81), `${'x'.repeat(80)}…`],
])('%j is shown as %s', (value, text) => {
  expect(showValue(value)).toBe(text);
});
