import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { programOf } from '../pattern/program.ts';
import { exactSequences, regExpOf } from './exact-sequences.ts';

const sequences = (pattern: string) =>
  exactSequences(programOf(RE2JS.compile(pattern)))
    ?.map((sequence) => sequence.map((bytes) => Buffer.from(bytes).toString('latin1')).join(' '))
    .sort();

test.each([
  ['foo|bar', ['b a r', 'f o o']],
  ['(get|set)[AB]?c', ['g e t AB c', 'g e t c', 's e t AB c', 's e t c']],
  ['(?i)ab', ['Aa Bb']],
  ['(?i)k', ['Kk', '\u00e2 \u0084 \u00aa']],
  ['é|b', ['b', '\u00c3 \u00a9']],
  ['x{3}', ['x x x']],
])('the exact sequences of %s are %j', (pattern, expected) => {
  expect(sequences(pattern)).toEqual(expected);
});

test.each([
  ...[
    'a*',
    'ab+',
    '^a',
    'a\\b',
    'a$',
    '',
    'a|',
    '.',
    '[^a]',
    'a\\nb',
    '[à-ü]',
    '\\x{fffd}',
    '\\x{d800}',
    '[^\\x00-\\x{10ffff}]',
    'abcdefghijklmnopq',
    '(aa|b){6}',
  ],
  ...['(a?){500}', '((a?)*)*b', '\\p{L}', Array.from({ length: 40 }, (_, i) => `w${i}x`).join('|')],
])('%s has no exact sequences', (pattern) => {
  expect(sequences(pattern)).toBeUndefined();
});

test.each(['foo|bar', '(?i)kiss', 'é|中|😀b', '[-^\\]]a', '\\.\\*|\\(\\)', '(?i)größe'])(
  'regExpOf finds %s at the same position as RE2',
  (pattern) => {
    const regex = RE2JS.compile(pattern);
    const found = regExpOf(exactSequences(programOf(regex)) ?? []);
    for (const text of [
      'a foobar',
      'xbarfoo',
      'KI\u017fs \u212aiss',
      '😀中é',
      'x 😀b中',
      '\ufffd é',
      '^a]a-a',
      '()a.*',
      'GRÖSSE GRÖßE',
      '',
    ]) {
      const matcher = regex.matcher(text);
      expect(text.search(found)).toBe(matcher.find() ? matcher.start() : -1);
    }
  },
);
