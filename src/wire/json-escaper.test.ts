import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeJson, escapeJsonChunks, jsonEscaper } from './json-escaper.ts';

const asJson = (text: string): string => JSON.stringify(text).slice(1, -1);

test.each([
  ['short', 'a "b"\n\\'],
  ['long', 'a "b"\n\\'.repeat(100)],
  ['long, and nothing to escape', 'abcdefg'.repeat(100)],
  ['every character of ASCII', Array.from({ length: 512 }, (_, i) => String.fromCharCode(i % 128)).join('')],
  ['what is longest when escaped', '\0'.repeat(200_000)],
  ['what is longest as it is', '\u20ac'.repeat(200_000)],
  ['characters of two halves across all parts', `a${'\u{1f600}'.repeat(100_000)}`],
  ['half a character', `${'a'.repeat(300)}\ud83d`],
])('%s: escaped as by JSON.stringify', (_, text) => {
  expect(escapeJson(text) === asJson(text)).toBe(true);
  if (text.isWellFormed())
    expect(Buffer.concat(escapeJsonChunks(Buffer.from(text))).toString() === asJson(text)).toBe(true);
});

test('the SIMD kernel is available on this machine', () => {
  expect(jsonEscaper()).toBeDefined();
});

test('any text is escaped as by JSON.stringify, wherever it ends in a vector', () => {
  const unit = fc.oneof(
    fc.constantFrom(
      '"',
      '\\',
      '\n',
      '\t',
      '\u0001',
      '\u007f',
      'e',
      '\u00e9',
      '\u2028',
      '\u{1f600}',
      '\ud800',
      'plain words ',
    ),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 60 }), fc.nat(40), fc.boolean(), (units, spare, ascii) => {
      const some = units.join('');
      const text = 'x'.repeat(150 + spare) + (ascii ? some.replace(/[^\0-\x7f]/g, '"') : some);
      expect(escapeJson(text)).toBe(asJson(text));
    }),
    { numRuns: 2_000 },
  );
});
