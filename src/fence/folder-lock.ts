import { setTimeout as sleep } from 'node:timers/promises';
import { reservedName } from './caller-path.ts';
import type { Dir } from './dir.ts';
import type { Name } from './entry.ts';
import { FenceError, isFenceError } from './errors.ts';
import { isLeftover, temporaryName } from './temp-name.ts';

/** The link that stands for a lock. It is hidden like a temporary file, and its text is a temporary name of its owner. */
const LOCK_NAME = reservedName('lock');
/** An older link belongs to a process that hangs, or to another machine: most locks are held for milliseconds. */
const MAX_LINK_AGE_MS = 10_000;
/** How long to wait for a lock. Nearly all are held for milliseconds, that of a retried edit until its file is on disk. */
const PATIENCE_MS = 5_000;
/** How often a lock is tried before the thread does something else: most locks are held for microseconds. */
const QUICK_TRIES = 20;
const MAX_SLEEP_MS = 2;

/**
 * Waits until no other process of this program is changing entries of a folder, and keeps the others out until the result is
 * disposed of. Undefined if the folder has no locks; raises `busy` if it has, and another process holds it for longer than
 * `patienceMs`. Programs that do not ask for the lock are not kept out. It is not reentrant, so whoever holds it must not wait for
 * another call that takes it. Most changes hold it for their last check and rename only; an edit that others keep getting ahead of
 * holds it from reading the file until it is replaced.
 *
 * The lock is a flock(2) on the folder (https://man7.org/linux/man-pages/man2/flock.2.html), which the kernel releases when its
 * process ends. Where there is none (the backends without system calls of their own, some network file systems), it is a symbolic
 * link in the folder, which symlink(2) creates for one process only and which others remove once its owner is gone. The two do not
 * know each other, so all processes on a folder must use the same backend. A flock needs no more than read permission for the folder.
 * A link needs write permission, without which nothing in the folder can be replaced either, and a file system with symbolic links.
 */
export async function lockFolder(dir: Dir, patienceMs = PATIENCE_MS): Promise<Disposable | undefined> {
  const deadline = Date.now() + patienceMs;
  for (let tries = 1; ; tries += 1) {
    const lock = dir.flock() ?? lockByLink(dir, LOCK_NAME);
    if (lock !== 'busy') return lock === 'unsupported' ? undefined : lock;
    if (tries < QUICK_TRIES) continue;
    if (Date.now() > deadline) throw new FenceError('busy', {});
    await sleep(Math.random() * MAX_SLEEP_MS);
  }
}

/**
 * Locks two folders, which may be one, in an order that is the same for everyone, so that no two processes wait for each other.
 * Raises `busy` as `lockFolder` does, and then holds neither.
 */
export async function lockFolders(a: Dir, b: Dir, patienceMs = PATIENCE_MS): Promise<Disposable> {
  const [statsOfA, statsOfB] = [a.lstat('.'), b.lstat('.')];
  const order = (statsOfA?.dev ?? 0) - (statsOfB?.dev ?? 0) || (statsOfA?.ino ?? 0) - (statsOfB?.ino ?? 0);
  const first = await lockFolder(order < 0 ? a : b, patienceMs);
  try {
    const second = order === 0 ? undefined : await lockFolder(order < 0 ? b : a, patienceMs);
    return {
      [Symbol.dispose]() {
        second?.[Symbol.dispose]();
        first?.[Symbol.dispose]();
      },
    };
  } catch (error) {
    first?.[Symbol.dispose]();
    throw error;
  }
}

/** Removes a lock, or what serves to break one, if its owner is gone. Reports whether the entry was one and is removed. */
export function removeStaleLock(dir: Dir, name: Name): boolean {
  return typeof name === 'string' && name.startsWith(LOCK_NAME) && breakIfStale(dir, name);
}

function lockByLink(dir: Dir, name: string): Disposable | 'busy' | 'unsupported' {
  const owner = temporaryName();
  for (;;) {
    try {
      dir.symlink(owner, name);
      break;
    } catch (error) {
      // Whatever else is wrong with the folder, the work that wants the lock finds out and reports.
      if (!isFenceError(error, 'already_exists')) return 'unsupported';
    }
    if (!breakIfStale(dir, name)) return 'busy';
  }
  return {
    [Symbol.dispose]() {
      removeLock(dir, name, owner);
    },
  };
}

/**
 * Removes a lock if its owner is gone, and reports whether it is no longer there. Of all that find it at the same time, only one may
 * remove it, or the second would remove the lock that the first has taken since. So it takes a lock first that is named after the
 * owner who is gone, and looks again.
 */
function breakIfStale(dir: Dir, name: string): boolean {
  const owner = ownerOf(dir, name);
  if (owner === undefined) return true;
  const stats = dir.lstat(name);
  if (stats === undefined) return true;
  if (Date.now() - stats.mtimeMs < MAX_LINK_AGE_MS && !isLeftover(owner, stats)) return false;
  const claim = lockByLink(dir, `${LOCK_NAME}-${owner.split('-').at(-1)}`);
  if (claim === 'busy' || claim === 'unsupported') return false;
  using _claim = claim;
  return removeLock(dir, name, owner);
}

/** Removes a lock if it is this owner's, and reports whether it is not, or no longer, there. */
function removeLock(dir: Dir, name: string, owner: string): boolean {
  try {
    if (ownerOf(dir, name) === owner) dir.unlink(name);
    return true;
  } catch (error) {
    // In a folder with the sticky bit, the locks of other users cannot be removed.
    if (!(error instanceof FenceError)) throw error;
    return isFenceError(error, 'not_found');
  }
}

/** Returns the text of a lock. Undefined if there is none; empty if something else has its name. */
function ownerOf(dir: Dir, name: string): string | undefined {
  try {
    return dir.readlink(name);
  } catch (error) {
    if (!(error instanceof FenceError)) throw error;
    return isFenceError(error, 'not_found') ? undefined : '';
  }
}
