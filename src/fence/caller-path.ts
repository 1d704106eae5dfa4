import { FenceError } from './errors.ts';

declare const host: unique symbol;

/** A path on this machine. The brand keeps the compiler from accepting any other string for it. */
export type HostPath = string & { readonly [host]: true };

/** A path that a caller named, as `parseCallerPath` returns it: relative to a root, with `.` and `..` resolved. */
export interface CallerPath {
  /** The path as the caller wrote it, for messages. */
  readonly raw: string;
  /** Plain names, none of them empty, `.` or `..`. The root itself has none. */
  readonly segments: readonly string[];
}

/** The path of the root itself. */
export const ROOT_PATH: CallerPath = { raw: '.', segments: [] };

/** Separates the names of a path, in callers' paths and in the targets of links. */
export const SEPARATOR = process.platform === 'win32' ? /[\\/]/ : /\//;

/** The most characters and names of a path, since each folder on the way to a new file may have to be created. */
const MAX_LENGTH = 32_768;
const MAX_NAMES = 1_024;

/**
 * Parses the path that a caller sent. A leading `/` means the root's top. `..` removes the name before it, as written;
 * more of them than names is `outside_root`. Percent signs are ordinary characters. Raises `invalid_path` for NUL
 * bytes, for strings that no file name can hold, and for reserved names, and `name_too_long` for more than 32,768
 * characters or 1,024 names.
 */
export function parseCallerPath(raw: string): CallerPath {
  if (raw.length > MAX_LENGTH) throw new FenceError('name_too_long', {}, { path: raw });
  if (raw.includes('\0')) throw new FenceError('invalid_path', { problem: 'null_byte' }, { path: raw });
  if (!isWellFormed(raw)) throw new FenceError('invalid_path', { problem: 'not_unicode' }, { path: raw });
  const segments: string[] = [];
  for (const segment of raw.split(SEPARATOR)) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') {
      segments.push(segment);
    } else if (segments.pop() === undefined) {
      throw new FenceError('outside_root', { resolved: raw }, { path: raw });
    }
  }
  if (segments.length > MAX_NAMES) throw new FenceError('name_too_long', {}, { path: raw });
  if (segments.some(isReservedName)) throw new FenceError('invalid_path', { problem: 'reserved' }, { path: raw });
  return { raw, segments };
}

/** Writes a path with `/` for every `\`, for callers whose paths mean the same on every system. */
export function toForwardSlashes(raw: string): string {
  return raw.replaceAll('\\', '/');
}

/** Names with this prefix are reserved for temporary files: see `temp-name.ts`. */
const RESERVED_PREFIX = '.ringfence-tmp-';

/** Reports whether a name is reserved for temporary files, so that no caller may use it. */
export function isReservedName(name: string): boolean {
  return name.startsWith(RESERVED_PREFIX);
}

/** Makes a reserved name that ends in `suffix`. */
export function reservedName(suffix: string): string {
  return RESERVED_PREFIX + suffix;
}

/** Reports whether a text has no lone surrogate, which would be written to disk as U+FFFD and so name another file. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
