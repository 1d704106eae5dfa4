import type { Stats } from 'node:fs';

/** Whether two entries are there and are one and the same, by whatever names. */
export function isSameFile(a: Stats | undefined, b: Stats | undefined): boolean {
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}
