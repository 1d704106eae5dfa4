import { BridgeError } from './bridge-error.ts';

/** When a file was changed: seconds or milliseconds since 1970, or an ISO 8601 text. Kept as it was given. */
export type Mtime = number | string | Date;

/** A number below this is in seconds: as milliseconds it would be before 1973, as seconds it ends in the year 5138. */
const SECONDS_BELOW = 1e11;
/** The last moment that a Date can hold. */
const LAST_MS = 8.64e15;
const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** Milliseconds since 1970, to compare. Raises `invalid_argument` for what is no time. */
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
