import type { Stats } from 'node:fs';

/** For how long machines see what others have replaced: GlusterFS and the kernel cache for a second each by default. */
export const CACHED_MS = 2_500;

/** A stamp of a file that is missing. */
const MISSING = 'missing';

/**
 * Returns what tells a file from those that it replaces, on all machines that share it: its inode, its size, which
 * another machine may have seen when it was not complete yet, when it was written, and when its status changed, which
 * is part of its version. Of a missing file, that it is missing, and which file was there until it was moved.
 */
export function stampOf(stats: Stats | undefined, moved?: Stats): string {
  if (stats !== undefined) return `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
  return moved === undefined ? MISSING : `${MISSING} ${moved.ino} ${moved.ctimeMs}`;
}

/** What a file is in comparison with a stamp: that very file, one that came later, or an older one or none. */
export type StampMatch = 'same' | 'newer' | 'older';

/**
 * Compares a file with the stamp of what was there last. A file of the same inode is older if its status is, as
 * machines show it that have cached it before it was moved. Of different files, the change of the status does not tell:
 * being replaced is one of the file that was replaced. With `skewMs`, a file counts as newer only if it was written so
 * much later, on whichever machine.
 */
export function compareStamp(stats: Stats | undefined, stamp: string, skewMs = 0): StampMatch {
  if (stats === undefined) return isMissing(stamp) ? 'same' : 'older';
  if (isReplaced(stats) || isMovedAway(stats, stamp)) return 'older';
  const [ino, size, mtimeMs, ctimeMs = 0] = stamp.split(' ').map(Number);
  if (stats.ino === ino && stats.size === size && stats.ctimeMs >= ctimeMs) return 'same';
  // What comes after none may be what was removed.
  if (isMissing(stamp) || mtimeMs === undefined) return skewMs === 0 ? 'newer' : 'older';
  return stats.mtimeMs > mtimeMs + skewMs ? 'newer' : 'older';
}

/** Reports whether a file has lost its last name, although a machine still shows it by that name. */
export function isReplaced(stats: Stats | undefined): boolean {
  return stats?.nlink === 0;
}

/** Reports whether a file is the one that was moved away from where a stamp says that none is. */
export function isMovedAway(stats: Stats | undefined, stamp: string): boolean {
  const [, ino, ctimeMs = 0] = stamp.split(' ').map(Number);
  // Whoever moves it back sets its change time.
  return stats !== undefined && isMissing(stamp) && stats.ino === ino && stats.ctimeMs <= ctimeMs;
}

function isMissing(stamp: string): boolean {
  return stamp.startsWith(MISSING);
}

/** Reports whether a file is the one of a stamp, whatever its size. */
export function isSameInode(stats: Stats | undefined, stamp: string): boolean {
  return stats !== undefined && stats.ino === Number(stamp.split(' ')[0]);
}
