import type { Stats } from 'node:fs';
import type { OwnerNames } from '../../fence/index.ts';

/** The owner, group and mode of an entry, for display. */
export interface Permissions {
  /** A name, or the number if it has none. */
  readonly owner: string;
  readonly group: string;
  /** The permission bits as four octal digits: `0644`, `4755`. */
  readonly mode: string;
  /** The type and permission bits as `ls -l` shows them: `-rw-r--r--`. */
  readonly modeString: string;
}

const TYPE_LETTERS: ReadonlyMap<number, string> = new Map([
  [0o010000, 'p'],
  [0o020000, 'c'],
  [0o040000, 'd'],
  [0o060000, 'b'],
  [0o100000, '-'],
  [0o120000, 'l'],
  [0o140000, 's'],
]);

/** Formats the owner, group and mode of an entry. */
export function permissionsOf(stats: Stats, names: OwnerNames): Permissions {
  return {
    owner: names.user(stats.uid),
    group: names.group(stats.gid),
    mode: (stats.mode & 0o7777).toString(8).padStart(4, '0'),
    modeString: modeString(stats.mode),
  };
}

function modeString(mode: number): string {
  const triple = (shift: number, special: boolean, letter: string) => {
    const bits = mode >> shift;
    const execute = bits & 1 ? (special ? letter : 'x') : special ? letter.toUpperCase() : '-';
    return (bits & 4 ? 'r' : '-') + (bits & 2 ? 'w' : '-') + execute;
  };
  const type = TYPE_LETTERS.get(mode & 0o170000) ?? '?';
  return (
    type +
    triple(6, (mode & 0o4000) !== 0, 's') +
    triple(3, (mode & 0o2000) !== 0, 's') +
    triple(0, (mode & 0o1000) !== 0, 't')
  );
}
