import { BridgeError } from './bridge-error.ts';

/** A modification time as a client sends it: seconds or milliseconds since 1970, an ISO 8601 string, or a Date. */
export type Mtime = number | string | Date;

/** Smaller numbers are seconds, larger ones milliseconds. 1e11 is the year 5138 in seconds and 1973 in milliseconds. */
const SECONDS_BELOW = 1e11;
/** The largest time value of a Date: https://tc39.es/ecma262/#sec-time-values-and-time-range */
const LAST_MS = 8.64e15;
const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** Converts a modification time to milliseconds since 1970. Raises `invalid_argument` if it is not a valid time. */
export function toMilliseconds(mtime: Mtime): number {
  const ms = parse(mtime);
  if (Math.abs(ms) <= LAST_MS) return ms;
  throw new BridgeError('invalid_argument', {
    problem: 'mtime must be a number of seconds or milliseconds since 1970, or an ISO 8601 time',
    argument: 'mtime',
  });
}

function parse(mtime: Mtime): number {
  if (typeof mtime === 'number') return Math.abs(mtime) < SECONDS_BELOW ? mtime * 1000 : mtime;
  if (mtime instanceof Date) return mtime.getTime();
  return typeof mtime === 'string' && ISO.test(mtime) ? Date.parse(mtime) : Number.NaN;
}
