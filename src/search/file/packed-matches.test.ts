import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packMatches, unpackMatches } from './packed-matches.ts';

const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' '));
const match = fc.record(
  {
    lineNumber: fc.nat(),
    lineContent: line,
    lineTruncated: fc.constant(true as const),
    contextBefore: fc.array(line, { maxLength: 3 }),
    contextAfter: fc.array(line, { maxLength: 3 }),
  },
  { requiredKeys: ['lineNumber', 'lineContent', 'contextBefore', 'contextAfter'] },
);

test('unpacking restores the matches, including empty lines, and shifts line numbers', () => {
  fc.assert(
    fc.property(fc.array(match, { minLength: 1, maxLength: 5 }), fc.nat(1_000), (some, before) => {
      const matches = some.map((one) => ({ file: 'a/b.txt', ...one }));
      const packed = structuredClone(packMatches(matches));
      expect(unpackMatches(packed, before)).toEqual(
        matches.map((one) => ({ ...one, lineNumber: one.lineNumber + before })),
      );
    }),
  );
});
