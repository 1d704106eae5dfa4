import { expect, test } from 'vitest';
import { toMilliseconds } from './mtime.ts';

test.each([
  [1_700_000_000, 1_700_000_000_000],
  [1_700_000_000.5, 1_700_000_000_500],
  [1_700_000_000_000, 1_700_000_000_000],
  [0, 0],
  ['2026-01-01', Date.UTC(2026, 0, 1)],
  ['2026-01-01T10:00:00Z', Date.UTC(2026, 0, 1, 10)],
  ['2026-01-01T10:00:00.123456789Z', Date.UTC(2026, 0, 1, 10, 0, 0, 123)],
  ['2026-01-01 10:00:00+02:00', Date.UTC(2026, 0, 1, 8)],
  [new Date(5), 5],
])('%s is %d', (mtime, expected) => {
  expect(toMilliseconds(mtime)).toBe(expected);
});

test.each(['', 'yesterday', '1700000000x', '2026-13-01', Number.NaN, Number.POSITIVE_INFINITY, 1e300, {}, null])(
  '%s is refused',
  (mtime) => {
    expect(() => toMilliseconds(mtime as never)).toThrow(/mtime must be/);
  },
);
