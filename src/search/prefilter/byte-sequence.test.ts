import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { programOf } from '../pattern/program.ts';
import { type ByteSequence, lineStartSequence, prefixSequences, requiredSequences } from './byte-sequence.ts';

/** Formats each position as its possible bytes, or as their number. */
function shown(sequence: ByteSequence): string {
  const show = (bytes: readonly number[]) =>
    bytes.length > 8 ? `${bytes.length}` : Buffer.from(bytes).toString('latin1');
  return sequence.map(show).join(' ');
}

const sequences = (pattern: string) => requiredSequences(programOf(RE2JS.compile(pattern))).map(shown);

test.each([
  ['a text is one sequence', 'abc', ['a b c']],
  ['alternatives of any length share what they have', 'abcd|xy', ['ax by']],
  ['case does not matter', '(?i)ab', ['Aa Bb']],
  ['the long s has two bytes', '(?i)sa', ['Ss\u00c5 Aa\u00bf', 'Aa']],
  ['a character beyond ASCII is its bytes', 'é€', ['\u00c3 \u00a9 \u00e2 \u0082 \u00ac']],
  ['of several characters, each position has the bytes of all', '[é-ü😀]', ['\u00c3\u00f0 22']],
  ['anything is all bytes but LF', 'a.b', ['a 255 65', 'b']],
  ['after the last repetition comes what follows it', '[0-9]+x', ['10 11', '10 x']],
  ['an optional part may be left out', 'ab?c', ['a bc', 'c']],
  ['assertions take no byte', '^a\\bb$', ['a b']],
  ['within a line there is no LF', 'a\\nb', ['a  b']],
  ['nothing is demanded where nothing may match', 'a*', []],
  ['what is between others is found as well', '\\w+foo\\w+', ['63 63 63 63 63', '63 f o o 63', '63']],
])('%s: %s', (_what, pattern, expected) => {
  expect(sequences(pattern)).toEqual(expected);
});

test.each([
  ['(foo|bar)\\s*\\(', ['b a r \t\f\r (', 'f o o \t\f\r (']],
  ['^a|b', ['a', 'b']],
  ['\\b(acquire|renew)x', ['a c q u i r e x', 'r e n e w x']],
  ['é|ü.', ['\u00c3 \u00a9', '\u00c3 \u00bc 255']],
  ['a', []],
  ['a|b*', []],
  [Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghi', (letter) => `${letter}.?x`).join('|'), []],
])('the prefix sequences of %s are %j', (pattern, expected) => {
  expect(
    prefixSequences(programOf(RE2JS.compile(pattern)))
      .map(shown)
      .sort(),
  ).toEqual(expected);
});

test.each([
  ['^ab', 'a b'],
  ['(^a|^b)c', 'ab c'],
  ['^\\ba$', 'a'],
  ['ab', undefined],
  ['(^a|b)c', undefined],
  ['(^|a)b', undefined],
  ['^a*', undefined],
  ['$', undefined],
])('the line-start sequence of %s is %s', (pattern, expected) => {
  const sequence = lineStartSequence(programOf(RE2JS.compile(pattern)));
  expect(sequence && shown(sequence)).toBe(expected);
});

test('the length of sequences and the size of analyzed programs are bounded', () => {
  expect(sequences('a'.repeat(1_000)).every((sequence) => sequence.split(' ').length === 16)).toBe(true);
  expect(sequences('a'.repeat(1_000)).length).toBe(8);
  expect(sequences('ab'.repeat(3_000))).toEqual([]);
});
