import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countLineEnds, endsWithLine, nthLineEnd } from './line-ends.ts';

/** Lines of all lengths, with runs of empty and very short ones. */
const text = fc
  .array(fc.oneof(fc.constant('\n'), fc.constant('x\n'.repeat(100)), fc.constant('long '.repeat(20)), fc.string()))
  .map((parts) => Buffer.from(parts.join('')));

test('line feeds are counted and found as by a loop over the bytes', () => {
  fc.assert(
    fc.property(text, fc.nat(300), (bytes, n) => {
      const ends = [...bytes.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at] : []));
      expect(countLineEnds(bytes)).toBe(ends.length);
      expect(nthLineEnd(bytes, n + 1)).toBe(ends[n] ?? -1);
    }),
  );
});

test('an empty buffer has no unfinished line', () => {
  expect(endsWithLine(Buffer.from(''))).toBe(true);
  expect(endsWithLine(Buffer.from('a\n'))).toBe(true);
  expect(endsWithLine(Buffer.from('a\nb'))).toBe(false);
});
