import { setTimeout as sleep } from 'node:timers/promises';
import { reservedName } from './caller-path.ts';
import type { Dir } from './dir.ts';
import type { Name } from './entry.ts';
import { FenceError, isFenceError } from './errors.ts';
import { isFlockHeld } from './kernel-locks.ts';
import { ownerState, temporaryName } from './temp-name.ts';

/**
 * The link that stands for a lock. It is hidden like a temporary file, and its text is a temporary name of its owner.
 */
const LOCK_NAME = reservedName('lock');
/**
 * How long to wait for a lock. Nearly all are held for milliseconds, that of a retried edit until its file is on disk.
 */
const PATIENCE_MS = 5_000;
/**
 * How long the link of an owner who cannot be seen from here has to stand before it is taken over; less than the
 * patience.
 */
const TAKEOVER_MS = 4_000;
/** How often a lock is tried before the thread does something else: most locks are held for microseconds. */
const QUICK_TRIES = 20;
const MAX_SLEEP_MS = 2;

/**
 * Waits until no other process of this program is changing entries of a folder, and keeps the others out until the
 * result is disposed of. Undefined if the folder has no locks; raises `busy` if it has, and another process holds it
 * for longer than `patienceMs`. Programs that do not ask for the lock are not kept out. It is not reentrant, so whoever
 * holds it must not wait for another call that takes it. Most changes hold it for their last check and rename only; an
 * edit that others keep getting ahead of holds it from reading the file until it is replaced.
 *
 * The lock is a flock(2) on the folder (https://man7.org/linux/man-pages/man2/flock.2.html), which the kernel releases
 * when its process ends. Where there is none (the backends without system calls of their own, some network file
 * systems, a folder that may not be read), it is a symbolic link in the folder, which symlink(2) creates for one
 * process only and which others remove once its owner is gone. The two exclude each other as in Dekker's algorithm:
 * each side first takes its own lock, then looks for the other's. Whoever has a flock and finds a link gives way;
 * whoever has the link waits for the flock to end, which /proc/locks shows.
 *
 * An owner is gone if the kernel knows no such process, whatever the clock says. Of a link whose owner is in another
 * container, that cannot be known, so it is taken over once it has stood for four seconds: such an owner must not be
 * stopped for that long. A flock has no such limit. A flock needs read permission for the folder. A link needs write
 * permission, without which nothing in the folder can be replaced either, and a file system with symbolic links.
 */
export async function lockFolder(dir: Dir, patienceMs = PATIENCE_MS): Promise<Disposable | undefined> {
  const flock = dir.flock();
  if (typeof flock === 'object') {
    if (!dir.has(LOCK_NAME)) return flock;
    flock[Symbol.dispose]();
  }
  const attempt = new LockAttempt(dir);
  let deadline = 0;
  for (let tries = 1; ; tries += 1) {
    const lock = attempt.try();
    if (lock !== 'busy') return lock === 'unsupported' ? undefined : lock;
    if (tries < QUICK_TRIES) continue;
    const now = performance.now();
    deadline ||= now + patienceMs;
    if (now > deadline) {
      attempt.giveUp();
      throw new FenceError('busy', {});
    }
    await sleep(Math.random() * MAX_SLEEP_MS);
  }
}

/**
 * Waits until no other process holds the lock of a folder, without taking it. Whoever takes it later sees what was done
 * before this returned. Raises `busy` as `lockFolder` does.
 */
export async function waitUntilUnlocked(dir: Dir, patienceMs = PATIENCE_MS): Promise<void> {
  const flock = dir.flock();
  if (flock !== undefined) {
    if (flock !== 'busy') flock[Symbol.dispose]();
    (await lockFolder(dir, patienceMs))?.[Symbol.dispose]();
    return;
  }
  // A link would change the times of the folder.
  const deadline = performance.now() + patienceMs;
  while (isFlockHeld(dir) || (dir.has(LOCK_NAME) && !isGone(ownerOf(dir, LOCK_NAME) ?? ''))) {
    if (performance.now() > deadline) throw new FenceError('busy', {});
    await sleep(Math.random() * MAX_SLEEP_MS);
  }
}

/**
 * Locks two folders, which may be one, in an order that is the same for everyone, so that no two processes wait for
 * each other. Raises `busy` as `lockFolder` does, and then holds neither.
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

/**
 * Removes a lock, or what serves to break one, if its owner is gone. Reports whether the entry was one and is removed.
 */
export function removeStaleLock(dir: Dir, name: Name): boolean {
  if (typeof name !== 'string' || !name.startsWith(LOCK_NAME)) return false;
  const owner = ownerOf(dir, name);
  return owner === undefined || (isGone(owner) && breakLock(dir, name, owner));
}

type Attempted = Disposable | 'busy' | 'unsupported';

/** The tries of one caller to lock a folder. */
class LockAttempt {
  readonly #dir: Dir;
  /**
   * The link that this caller has, while it waits for a flock of another to end. New ones give way to the link
   * meanwhile.
   */
  #link: Disposable | undefined;
  /** The owner in the way who cannot be seen from here, and since when. */
  #unseen: { readonly owner: string; readonly since: number } | undefined;

  constructor(dir: Dir) {
    this.#dir = dir;
  }

  try(): Attempted {
    if (this.#link === undefined) {
      const flock = this.#dir.flock();
      if (flock === 'busy') return 'busy';
      if (flock !== undefined) {
        if (!this.#dir.has(LOCK_NAME) || this.#clearWay()) return flock;
        flock[Symbol.dispose]();
        return 'busy';
      }
      const link = this.#tryLink();
      if (link === 'busy' || link === 'unsupported') return link;
      this.#link = link;
    }
    return isFlockHeld(this.#dir) ? 'busy' : this.#link;
  }

  giveUp(): void {
    this.#link?.[Symbol.dispose]();
  }

  #tryLink(): Attempted {
    for (;;) {
      const link = makeLink(this.#dir, LOCK_NAME);
      if (link !== 'busy') return link;
      if (!this.#clearWay()) return 'busy';
    }
  }

  /** Removes the link of an owner who is gone, and reports whether it is no longer there. */
  #clearWay(): boolean {
    const owner = ownerOf(this.#dir, LOCK_NAME);
    if (owner === undefined) return true;
    if (isGone(owner)) return breakLock(this.#dir, LOCK_NAME, owner);
    if (ownerState(owner) === 'running') return false;
    const now = performance.now();
    if (this.#unseen?.owner !== owner) this.#unseen = { owner, since: now };
    return now - this.#unseen.since > TAKEOVER_MS && breakLock(this.#dir, LOCK_NAME, owner);
  }
}

function isGone(owner: string): boolean {
  return ownerState(owner) === 'gone';
}

function makeLink(dir: Dir, name: string): Attempted {
  const owner = temporaryName();
  try {
    dir.symlink(owner, name);
  } catch (error) {
    // Whatever else is wrong with the folder, the work that wants the lock finds out and reports.
    return isFenceError(error, 'already_exists') ? 'busy' : 'unsupported';
  }
  return {
    [Symbol.dispose]() {
      removeLock(dir, name, owner);
    },
  };
}

/**
 * Removes the lock of an owner who is gone, and reports whether it is no longer there. Of all that find it at the same
 * time, only one may remove it, or the second would remove the lock that the first has taken since. So it takes a lock
 * first that is named after the owner who is gone, and looks again.
 */
function breakLock(dir: Dir, name: string, owner: string): boolean {
  const claimName = `${LOCK_NAME}-${owner.split('-').at(-1)}`;
  let claim = makeLink(dir, claimName);
  if (claim === 'busy') {
    const claimant = ownerOf(dir, claimName);
    if (claimant !== undefined && !(isGone(claimant) && breakLock(dir, claimName, claimant))) return false;
    claim = makeLink(dir, claimName);
  }
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
