import fs from 'node:fs';
import type { Dir } from './dir.ts';

/**
 * Reports whether any process of this machine holds a lock of the kernel on a directory, from /proc/locks
 * (https://man7.org/linux/man-pages/man5/proc_locks.5.html), which needs no system call that Node lacks. False where
 * that cannot be seen. A flock of another PID namespace is not shown there, but the mark that comes with it is
 * (`Syscalls.markInUse`).
 */
export function isFlockHeld(dir: Dir): boolean {
  let locks: string;
  try {
    locks = fs.readFileSync('/proc/locks', 'latin1');
  } catch {
    return false;
  }
  if (locks === '') return false;
  const stats = dir.lstat('.');
  if (stats === undefined) return false;
  for (const [, kind, major, minor, inode] of locks.matchAll(LOCK_LINE)) {
    // Numbers of 64 bits are rounded alike on both sides.
    if (kind === 'POSIX' || Number(inode) !== stats.ino) continue;
    if (isSameDevice(Number.parseInt(major as string, 16), Number.parseInt(minor as string, 16), stats.dev))
      return true;
  }
  return false;
}

/** A line such as `1: FLOCK  ADVISORY  WRITE 3699 fe:00:2498570 0 EOF`. One with an arrow waits for a lock. */
const LOCK_LINE = /^\d+: (\w+) +\w+ +\w+ +-?\d+ ([0-9a-f]+):([0-9a-f]+):(\d+) /gm;

/** File systems without a device of their own (btrfs, overlay) may show another number here than in a file's status. */
function isSameDevice(major: number, minor: number, dev: number): boolean {
  const majorOfDev = Math.floor(dev / 256) & 0xfff;
  const minorOfDev = (dev & 0xff) | (Math.floor(dev / 4096) & 0xfff00);
  return major === majorOfDev && (major === 0 || minor === minorOfDev);
}
