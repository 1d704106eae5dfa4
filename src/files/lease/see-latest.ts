import type { Stats } from 'node:fs';
import { isFenceError, isOfOtherLease } from '../../fence/index.ts';
import { cancellableSleep } from '../../runtime/operation-context.ts';
import { FileError } from '../errors.ts';
import type { FileLease } from './file-lease.ts';
import type { LeasedEntry } from './lease-key.ts';
import { CACHED_MS, compareStamp, isMovedAway, isReplaced, isSameInode } from './stamp.ts';

/** For how long GlusterFS alone does so: after `refreshed`, the kernel no longer has the old file cached. */
const CACHED_BELOW_KERNEL_MS = 1_500;
/** A file that was changed within this time may look different on other machines. */
const RECENT_MS = 5_000;
/** How far the clocks of machines may be apart. */
const SKEW_MS = 5_000;
/**
 * For how long to look for what the last holder has left, and how often at least: this process may have been stopped.
 */
const LATEST_PATIENCE_MS = 10_000;
const MIN_TRIES = 20;
const RETRY_MS = 20;
/** How often a name is looked up again by which a file is shown that the disks do not have. */
const LOOKUPS = 3;

/**
 * Waits until this machine sees a file as the last holder of the lease has left it. File systems that machines share
 * may go on showing a file for seconds after another machine has replaced it.
 *
 * If the last holder has noted which file it has left, this waits for that file where other machines can have it.
 * Raises `changed_meanwhile` if it does not show up within ten seconds; the next attempt then does without the note,
 * unless what is shown is only cached.
 *
 * If the last holder has left no note, it may not have finished: this removes the temporary files of other holders, and
 * waits once for as long as old files are shown. If there was no holder for long, it only waits if the file has just
 * been changed, which another program must have done. Raises `changed_meanwhile` if what is shown is only cached then.
 *
 * Raises the reason of an aborted signal.
 */
export async function seeLatest(lease: FileLease, { dir, name }: LeasedEntry, signal: AbortSignal): Promise<void> {
  if (lease.note) return waitFor(lease, { note: lease.note, entry: { dir, name }, signal });
  // Lists the folder, which takes long if it is large. So it is not done for every file that nobody has changed for
  // long.
  if (lease.mayHaveOthers) removeOthers(lease, { dir, name });
  if (!dir.isLocal()) {
    const now = refreshed({ dir, name });
    if (lease.note === '' || isRecent(now) || isReplaced(now)) await cancellableSleep(CACHED_BELOW_KERNEL_MS, signal);
    if (isReplaced(refreshed({ dir, name }))) throw new FileError('changed_meanwhile', {});
  }
  lease.leaves(dir.lstat(name));
}

/**
 * Stats an entry after making this machine look it up again. A file that is shown although the disks no longer have it
 * counts as replaced (`isReplaced`).
 *
 * Opening or stating a file does not make the kernel look up its name for a second after the last lookup, but an attempt
 * to make an entry of that name does. The attempt here is a hard link to the folder itself, which every file system
 * refuses, so nothing is made. GlusterFS answers the lookup from a cache of its own for up to a second, and for much
 * longer if somebody reads the file meanwhile. Asking the disks about the file is what tells that they no longer have it,
 * and GlusterFS forgets what it cached (md-cache; measured: 2 to 10 ms instead of 460 to 1,000).
 *
 * Listing the folder would make the kernel look up its names, too. But a listing that began before a file was replaced
 * brings the old file back, and repeated listings keep GlusterFS showing it for many seconds.
 */
export function refreshed({ dir, name }: LeasedEntry): Stats | undefined {
  if (dir.isLocal()) return dir.lstat(name);
  for (let attempt = 1; ; attempt += 1) {
    const isStored = dir.isStored(name);
    dir.link('.', name);
    const stats = dir.lstat(name);
    if (isStored || stats === undefined) return stats;
    if (attempt === LOOKUPS) return Object.assign(stats, { nlink: 0 });
  }
}

interface AwaitedFile {
  readonly note: string;
  readonly entry: LeasedEntry;
  readonly signal: AbortSignal;
}

/**
 * Waits for the file of a note. What is still different after all caches have expired was changed by another program,
 * or the holder did not know the right size. An older file, or one that was moved away, is not taken for the latest,
 * even then. The disks are asked about the file of the note, too: a server without the store may have replaced it.
 */
async function waitFor(lease: FileLease, { note, entry, signal }: AwaitedFile): Promise<void> {
  const started = performance.now();
  for (let tries = 1; ; tries += 1) {
    const now = refreshed(entry);
    // On a file system of one machine, nobody has an older file cached.
    if (isLatest(now, note) || entry.dir.isLocal()) return lease.leaves(now);
    const waitedMs = tries < MIN_TRIES ? 0 : performance.now() - started;
    if (waitedMs > CACHED_MS && mayBeLatest(now, note)) return lease.leaves(now);
    if (waitedMs > LATEST_PATIENCE_MS) {
      // Any other file that the disks have was put there by another program, which the next attempt accepts.
      if (!isReplaced(now) && !isMovedAway(now, note)) lease.leavesUnknown();
      throw new FileError('changed_meanwhile', {});
    }
    await cancellableSleep(RETRY_MS, signal);
  }
}

/** Reports whether a file is the one of a note, or certainly a later one. */
export function isLatest(now: Stats | undefined, note: string): boolean {
  return compareStamp(now, note) === 'same' || compareStamp(now, note, SKEW_MS) === 'newer';
}

/** Reports whether a file, or none, can have come after the one of a note. */
function mayBeLatest(now: Stats | undefined, note: string): boolean {
  if (isReplaced(now) || isMovedAway(now, note)) return false;
  return now === undefined || isSameInode(now, note) || compareStamp(now, note) === 'newer';
}

/** Removes what other holders would rename over the file: they may have been stopped, and not know of their loss. */
function removeOthers({ token }: FileLease, { dir, name }: LeasedEntry): void {
  for (const entry of dir.list(true)) {
    if (!isOfOtherLease(entry.name, name.toString(), token)) continue;
    try {
      dir.unlink(entry.raw);
    } catch (error) {
      if (!isFenceError(error, 'not_found')) throw error;
    }
  }
}

function isRecent(stats: Stats | undefined): boolean {
  return stats !== undefined && Math.abs(Date.now() - Math.max(stats.ctimeMs, stats.mtimeMs)) < RECENT_MS;
}
