import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IsoTimes } from './iso-times.ts';

const MAX_MS = 8.64e15;

test('writes every time as Date does, whatever was written before', () => {
  const times = new IsoTimes();
  const near = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 0, 3) });
  fc.assert(
    fc.property(fc.oneof(near, fc.integer({ min: -MAX_MS, max: MAX_MS })), (ms) => {
      expect(times.format(ms)).toBe(new Date(ms).toISOString());
    }),
  );
});

test('a time that no Date can hold is refused, as by Date', () => {
  expect(() => new IsoTimes().format(MAX_MS + 1)).toThrow(RangeError);
});
