import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countLineEnds, endsWithLine, nthLineEnd } from './line-ends.ts';

/** Lines of every kind, among them many in a row that are empty or very short. */
const text = fc
  .array(fc.oneof(fc.constant('\n'), fc.constant('x\n'.repeat(100)), fc.constant('long '.repeat(20)), fc.string()))
  .map((parts) => Buffer.from(parts.join('')));

test('line ends are counted and found as by looking at each byte', () => {
  fc.assert(
    fc.property(text, fc.nat(300), (bytes, n) => {
      const ends = [...bytes.entries()].flatMap(([at, byte]) => (byte === 0x0a ? [at] : []));
      expect(countLineEnds(bytes)).toBe(ends.length);
      expect(nthLineEnd(bytes, n + 1)).toBe(ends[n] ?? -1);
    }),
  );
});

test('nothing is no line that has begun', () => {
  expect(endsWithLine(Buffer.from(''))).toBe(true);
  expect(endsWithLine(Buffer.from('a\n'))).toBe(true);
  expect(endsWithLine(Buffer.from('a\nb'))).toBe(false);
});
