import { expect, test } from 'vitest';
import { escapeUnprintable, printable, shorten } from './printable.ts';

const HARMFUL = [
  0x00, 0x1b, 0x1f, 0x7f, 0x80, 0x9b, 0x9f, 0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069,
];

test.each(HARMFUL.map((code) => [code.toString(16).padStart(4, '0'), String.fromCharCode(code)]))(
  'U+%s is escaped, and a JSON string that holds it stays the same',
  (hex, character) => {
    expect(escapeUnprintable(`a${character}b`)).toBe(`a\\u${hex}b`);
    expect(JSON.parse(printable(`a\\${character}"`))).toBe(`a\\${character}"`);
    expect(printable(`a${character}b`)).not.toContain(character);
  },
);

test.each(['plain', 'a "b" \\c', 'äöü 漢字 \u{1f600}', ' ~\u00a0\u200d\u2030', ''])('%j is left as it is', (text) => {
  expect([escapeUnprintable(text), printable(text)]).toEqual([text, text]);
});

test('an unpaired surrogate is escaped', () => {
  expect(printable('a\ud800')).toBe('"a\\ud800"');
});

test.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc…'],
  ['a\u{1f600}bcd', 3, 'a\u{1f600}…'],
  ['ab\u{1f600}cd', 3, 'ab…'],
])('%s shortened to %i characters is %s', (text, length, short) => {
  expect(shorten(text, length)).toBe(short);
});
