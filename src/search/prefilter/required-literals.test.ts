import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { requiredLiterals } from './required-literals.ts';

const literals = (pattern: string, flags = 0) =>
  requiredLiterals(RE2JS.compile(pattern, flags))?.map((literal) => literal.toString());

test.each([
  ['TODO', ['TODO']],
  ['a\\.b', ['a.b']],
  ['func \\w+Error', ['Error']],
  ['(a|b)*ab*Z', ['Z']],
  ['\\bimport\\b.*from', ['import']],
  ['(foo)+bar{2}', ['foo']],
  ['foo|quux', ['foo', 'quux']],
  ['(alpha|beta) gamma', [' gamma']],
  ['straße', ['straße']],
])('%s requires %j', (pattern, expected) => {
  expect(literals(pattern)).toEqual(expected);
});

test.each([
  '',
  '.*',
  'a?',
  '(foo)?',
  'foo|',
  '[ab]c*',
  '(?i)needle',
  'foo|\\d',
  `(?:${Array.from({ length: 33 }, (_, i) => `${i}x${i}`).join('|')})`,
])('%j requires no literal', (pattern) => {
  expect(literals(pattern)).toBeUndefined();
});

test('a case-insensitive pattern requires no literal, since k and s also match U+212A and U+017F', () => {
  expect(literals('ask', RE2JS.CASE_INSENSITIVE)).toBeUndefined();
});
