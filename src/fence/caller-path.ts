import { RingfenceError } from '../errors.ts';

declare const host: unique symbol;

/** A path on this machine. It never reaches a client. */
export type HostPath = string & { readonly [host]: true };

/** A path as a client names it: parsed, with `.` and `..` already taken out, relative to a root. */
export interface CallerPath {
  /** What the caller wrote, for messages. */
  readonly raw: string;
  /** Plain names, none of them empty, `.` or `..`. No segments at all means the root itself. */
  readonly segments: readonly string[];
}

export const SEPARATOR = process.platform === 'win32' ? /[\\/]/ : /\//;

/**
 * Parses what a client sent. A leading `/` is the root's top. `..` takes back the name before it, as written;
 * more of them than names is `outside_root`. Percent forms are ordinary characters.
 * Raises `invalid_path` for NUL bytes and for strings that no file name can hold.
 */
export function parseCallerPath(raw: string): CallerPath {
  if (raw.includes('\0')) throw new RingfenceError('invalid_path', { problem: 'null_byte' }, { path: raw });
  if (!isWellFormed(raw)) throw new RingfenceError('invalid_path', { problem: 'not_unicode' }, { path: raw });
  const segments: string[] = [];
  for (const segment of raw.split(SEPARATOR)) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') {
      segments.push(segment);
    } else if (segments.pop() === undefined) {
      throw new RingfenceError('outside_root', { resolved: raw }, { path: raw });
    }
  }
  if (segments.some(isReservedName)) throw new RingfenceError('invalid_path', { problem: 'reserved' }, { path: raw });
  return { raw, segments };
}

/** Names that the fence keeps for its own temporary files; see `temp-name.ts`. */
const RESERVED_PREFIX = '.ringfence-tmp-';

export function isReservedName(name: string): boolean {
  return name.startsWith(RESERVED_PREFIX);
}

export function reservedName(suffix: string): string {
  return RESERVED_PREFIX + suffix;
}

/** A lone surrogate would be written to disk as U+FFFD, naming another file than the caller meant. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
