import type { Dir, Name } from '../../fence/index.ts';

/** An entry of an open folder. A `Location` is one. */
export interface LeasedEntry {
  readonly dir: Dir;
  readonly name: Name;
}

/**
 * Returns what stands for a file on all machines, by whatever root or link it is reached: the number of its folder, and
 * its name. The device is not part of it, because each machine numbers its own. Two files may share a key; then changes
 * of one wait for those of the other.
 */
export function keyOf({ dir, name }: LeasedEntry): string {
  return `${dir.lstat('.')?.ino ?? 0}/${name.toString()}`;
}
