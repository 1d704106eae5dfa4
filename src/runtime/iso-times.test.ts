import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IsoTimeFormatter, isoTime } from './iso-times.ts';

const MAX_MS = 8.64e15;

test('formats every time like Date, whatever was formatted before', () => {
  const times = new IsoTimeFormatter();
  const near = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 0, 3) });
  fc.assert(
    fc.property(fc.oneof(near, fc.integer({ min: -MAX_MS, max: MAX_MS })), (ms) => {
      expect(times.format(ms)).toBe(new Date(ms).toISOString());
    }),
  );
});

test('a time outside the range of Date is clamped', () => {
  for (const write of [isoTime, (ms: number) => new IsoTimeFormatter().format(ms)]) {
    expect(write(MAX_MS + 1)).toBe('+275760-09-13T00:00:00.000Z');
    expect(write(-MAX_MS - 1)).toBe('-271821-04-20T00:00:00.000Z');
  }
});
