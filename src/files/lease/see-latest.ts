import type { Stats } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isFenceError, isOfOtherLease } from '../../fence/index.ts';
import { FileError } from '../errors.ts';
import type { FileLease } from './file-lease.ts';
import type { LeasedEntry } from './lease-key.ts';
import { compareStamp, isReplaced, isSameInode } from './stamp.ts';

/** For how long machines see what others have replaced: GlusterFS and the kernel cache for a second each by default. */
export const CACHED_MS = 2_500;
/** For how long they do so for a name that the kernel has looked up again, so that only GlusterFS has it cached. */
const CACHED_BELOW_KERNEL_MS = 1_500;
/** A file that was changed within this time may look different on other machines. */
const RECENT_MS = 5_000;
/** How far the clocks of machines may be apart. */
const SKEW_MS = 5_000;
/** For how long to look for what the last holder has left, and how often at least: this process may have been stopped. */
const PATIENCE_MS = 10_000;
const MIN_TRIES = 20;
const RETRY_MS = 20;

/**
 * Removes the temporary files of other holders, unless the last one has finished, and waits until this machine sees what
 * it has left: file systems that machines share show a file that another has replaced for a while. Raises
 * `changed_meanwhile` if it does not show up; then the next attempt does not expect it.
 *
 * If the last holder has left no note, the file is looked at once more after that while, and also if there was none, but
 * another program has changed the file a moment ago.
 */
export async function seeLatest(lease: FileLease, { dir, name }: LeasedEntry): Promise<void> {
  if (lease.note) return waitFor(lease, lease.note, { dir, name });
  removeOthers(lease, { dir, name });
  if (!dir.isLocal()) {
    const now = refreshed({ dir, name });
    if (lease.note === '' || isRecent(now) || isReplaced(now)) await sleep(CACHED_BELOW_KERNEL_MS);
    refreshed({ dir, name });
  }
  lease.leaves(dir.lstat(name));
}

/**
 * Stats an entry after the kernel has looked its name up again, which neither opening nor stating a file does for a
 * second. Making an entry does, if only to find that it exists. A folder cannot have a second name, so nothing is made.
 *
 * Listing the folder would refresh its names, too. But a listing that began before a file was replaced brings the old one
 * back, and several of them keep it on GlusterFS for many seconds.
 */
export function refreshed({ dir, name }: LeasedEntry): Stats | undefined {
  if (!dir.isLocal()) dir.link('.', name);
  return dir.lstat(name);
}

/**
 * Waits for the file of a note. What is still different after all caches have expired was changed by another program, or
 * the holder did not know the right size. An older file is not taken for the latest, even then.
 */
async function waitFor(lease: FileLease, note: string, entry: LeasedEntry): Promise<void> {
  let now = entry.dir.lstat(entry.name);
  const started = performance.now();
  for (let tries = 1; !isLatest(now, note); tries += 1) {
    now = refreshed(entry);
    if (isLatest(now, note)) break;
    const waitedMs = tries < MIN_TRIES ? 0 : performance.now() - started;
    if (waitedMs > CACHED_MS && mayBeLatest(now, note)) break;
    if (waitedMs > PATIENCE_MS) {
      lease.leavesUnknown();
      throw new FileError('changed_meanwhile', {});
    }
    await sleep(RETRY_MS);
  }
  lease.leaves(now);
}

/** Reports whether a file is the one of a note, or certainly a later one. */
function isLatest(now: Stats | undefined, note: string): boolean {
  return compareStamp(now, note) === 'same' || compareStamp(now, note, SKEW_MS) === 'newer';
}

/** Reports whether a file, or none, can have come after the one of a note. */
function mayBeLatest(now: Stats | undefined, note: string): boolean {
  return now === undefined || isSameInode(now, note) || compareStamp(now, note) === 'newer';
}

/** Removes what other holders would rename over the file: they may have been stopped, and not know that they lost it. */
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
