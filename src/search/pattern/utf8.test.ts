import fc from 'fast-check';
import { expect, test } from 'vitest';
import { texts } from './line-patterns.fixture.ts';
import { runeAt } from './utf8.ts';

test('decodes like Buffer.toString, including bytes that are not UTF-8', () => {
  fc.assert(
    fc.property(texts, (bytes) => {
      const runes: number[] = [];
      for (let at = 0; at < bytes.length; ) {
        const rune = runeAt(bytes, at, bytes.length);
        runes.push(rune >> 3);
        at += rune & 7;
      }
      expect(String.fromCodePoint(...runes)).toBe(bytes.toString());
    }),
  );
});
