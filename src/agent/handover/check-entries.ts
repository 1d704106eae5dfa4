import { SecurityError } from '../bridge-error.ts';
import type { ListingEntry, PathInfo } from '../listing-entry.ts';
import { type Mtime, toMilliseconds } from '../mtime.ts';
import type { PathValidator } from '../policy/path-validator.ts';
import { invalid } from './invalid-argument.ts';

/** The most entries of one listing, nested ones included. */
export const MAX_LISTED = 10_000;
const MAX_DEPTH = 64;
const TYPES: readonly unknown[] = ['file', 'directory', 'symlink', 'other'] satisfies ListingEntry['type'][];

/**
 * Validates a tree of entries that a client sent: types, names, limits, and every path against the policy. Does not
 * follow an entry that is listed as a symlink. Raises `invalid_argument`, and `path_not_allowed` as a `SecurityError`.
 */
export function checkEntries(raw: unknown, folder: string, validator: PathValidator): PathInfo[] {
  const check = new EntryCheck();
  const entries = check.entries(raw, { folder, argument: 'entries', depth: 1 });
  validator.validateAll(check.followed);
  for (const path of check.links) validator.validateSpelling(path);
  return entries;
}

interface EntryLocation {
  readonly folder: string;
  /** The position for error messages, such as `entries[2].children`. */
  readonly argument: string;
  readonly depth: number;
}

class EntryCheck {
  readonly followed: string[] = [];
  readonly links: string[] = [];

  entries(raw: unknown, location: EntryLocation): PathInfo[] {
    if (!Array.isArray(raw)) throw invalid(location.argument, `must be an array, not ${kindOf(raw)}`);
    if (location.depth > MAX_DEPTH) throw invalid(location.argument, `is nested deeper than ${MAX_DEPTH} folders`);
    const names = new Set<string>();
    return raw.map((entry: unknown, i) => {
      const argument = `${location.argument}[${i}]`;
      const checked = this.#entry(entry, { ...location, argument });
      if (names.has(checked.name)) throw invalid(`${argument}.name`, `"${checked.name}" is listed twice`);
      names.add(checked.name);
      return checked;
    });
  }

  #entry(raw: unknown, { folder, argument, depth }: EntryLocation): PathInfo {
    if (!isRecord(raw)) throw invalid(argument, `must be an object, not ${kindOf(raw)}`);
    const name = nameOf(raw.name, `${argument}.name`, folder);
    const path = folder === '.' ? name : `${folder}/${name}`;
    const { type, size, mtime, children } = raw as { [K in keyof ListingEntry]: unknown };
    if (!isType(type)) throw invalid(`${argument}.type`, 'must be file, directory, symlink or other');
    if (size != null && !(Number.isSafeInteger(size) && (size as number) >= 0))
      throw invalid(`${argument}.size`, 'must be a whole number of bytes');
    if (mtime != null) toMilliseconds(mtime as Mtime);
    if (children != null && type !== 'directory') throw invalid(`${argument}.children`, 'is for directories only');
    (type === 'symlink' ? this.links : this.followed).push(path);
    if (this.followed.length + this.links.length > MAX_LISTED)
      throw invalid('entries', `must not hold more than ${MAX_LISTED} entries, nested ones included`);
    return {
      name,
      path,
      type,
      ...(size != null && { size: size as number }),
      ...(mtime != null && { mtime: mtime as Mtime }),
      ...(children != null && {
        children: this.entries(children, { folder: path, argument: `${argument}.children`, depth: depth + 1 }),
      }),
    };
  }
}

function nameOf(name: unknown, argument: string, folder: string): string {
  if (typeof name !== 'string' || name === '') throw invalid(argument, 'must be the name of a file or folder');
  if (/[/\\]/.test(name) || name === '.' || name === '..') throw new SecurityError('traversal', `${folder}/${name}`);
  return name;
}

function isType(type: unknown): type is ListingEntry['type'] {
  return TYPES.includes(type);
}

/** Whether a value is an object, and neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}
