import type { Stats } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Dir,
  FenceError,
  isFenceError,
  isTransient,
  lockFolder,
  type Name,
  type OpenFile,
  temporaryName,
} from '../../fence/index.ts';
import type { Change, PendingStep } from '../../history/index.ts';
import { deferFree } from '../deferred-free.ts';
import { FileError, isFileError } from '../errors.ts';
import type { FileLease } from '../lease/file-lease.ts';
import { refreshed } from '../lease/see-latest.ts';
import { CACHED_MS } from '../lease/stamp.ts';
import { assertVersion, mismatch } from './if-match.ts';

/** The entry of an open folder that a new file or link goes to. A `Location` is one. */
export interface ReplaceTarget {
  readonly dir: Dir;
  readonly name: Name;
  /** The entry that exists now, if any. */
  readonly stats: Stats | undefined;
  /** The path of the entry from the top of its root, for the history. */
  readonly path: string;
  /** Flushes the names of the folders that were made for the entry, if any. */
  readonly syncMade?: (() => Promise<void>) | undefined;
}

/** Options of `replaceFile`. */
export interface ReplaceOptions {
  /** Flush to disk before returning (the default); `content` leaves it to the caller to flush the folder. */
  readonly durable?: boolean | 'content';
  /**
   * What may be replaced: anything replaceable (the default), nothing, or only this file, unchanged since it was read.
   */
  readonly over?: 'anything' | 'nothing' | Stats;
  /** Replace only a file of this version, or nothing if it is `absent`: see `expectedVersion`. Overrules `over`. */
  readonly expected?: string | undefined;
  /** The caller holds the lock of the folder. */
  readonly locked?: boolean;
  /** Keep the times that `fill` has set. */
  readonly keepTimes?: boolean;
  /** Permission bits of the new file; by default those of the replaced file. */
  readonly mode?: number;
  /** The change in the root's history that this is part of; undefined if nothing is kept. */
  readonly change?: Change | undefined;
  /** The lease on the file, where other machines change it, too. */
  readonly lease?: FileLease | undefined;
  /** Called once the file has its name. */
  readonly onLanded?: () => void;
}

/**
 * Creates or replaces a file atomically: writes a temporary file in the same folder, flushes it, and renames it over
 * the target. A replaced file's owner and mode are kept; its set-user-ID and set-group-ID bits only together with owner
 * and group. Hard links to a replaced file keep the old content. Returns the new file's stats as of the rename.
 *
 * The check of what is there and the rename happen while the folder is locked, so no other process of this program can
 * change the entry between them. Against other programs see `swapIfUnchanged`.
 *
 * Raises `already_exists` or `changed_meanwhile` if `over` does not allow what is there, `version_mismatch` if
 * `expected` does not, `lease_lost` if another server may change the file by now, `changed_meanwhile` if the lease is
 * for another file, `coordination_unavailable` if that cannot be known, and what `assertReplaceable` raises. After a
 * failure the target is unchanged and no temporary file remains.
 */
export async function replaceFile(
  target: ReplaceTarget,
  fill: Uint8Array | ((file: OpenFile) => Promise<void>),
  options: ReplaceOptions,
): Promise<Stats> {
  const { durable = true, mode } = options;
  const { dir, stats } = target;
  options.lease?.assertFor(target);
  dir.assertMayPut(target.name);
  if (options.expected !== undefined) assertVersion(stats, options.expected);
  else if (stats !== undefined && options.over === 'nothing') throw new FenceError('already_exists', {});
  if (stats !== undefined) assertReplaceable(target);
  using _held = deferFree(target);
  const temporary = options.lease?.temporaryName(dir, target.name) ?? temporaryName(dir);
  let written: Stats;
  {
    // A new file that others may not read is never open to them, not even for a moment.
    const created = stats === undefined ? mode : undefined;
    // Without waiting for the disk, it is renamed before any other process could take it for a leftover.
    const isBrief = !durable && typeof fill !== 'function';
    using file = isBrief ? dir.createFile(temporary, created) : dir.createInUse(temporary, created);
    let step: PendingStep | undefined;
    try {
      const kept = stats !== undefined && copyOwner(file, stats, file.stats);
      const wanted = mode ?? (stats && stats.mode & (kept ? 0o7777 : 0o777));
      // Most files have the mode of a new file, which saves the system call.
      if (wanted !== undefined && wanted !== (file.stats.mode & 0o7777)) file.chmod(wanted);
      if (typeof fill === 'function') await fill(file);
      else file.writeAll(fill);
      if (!options.keepTimes) file.stampMtime();
      step = await options.change?.put(target, file.stat());
      if (durable) await Promise.all([file.sync(), step?.flush()]);
      // Where there are leases, a server that was stopped must not keep the others of its machine from going on.
      using _lock = options.locked || options.lease ? undefined : await lockFolder(dir);
      if (step !== undefined && !step.fits(dir.lstat(target.name))) {
        // Another process has replaced it since. None can while the folder is locked.
        step.cancel();
        step = await options.change?.put(target, file.stat());
        if (durable) await step?.flush();
      }
      await options.lease?.confirm();
      await land(target, { temporary, file }, { ...options, step });
      options.onLanded?.();
      // A rename sets the change time, and so the version.
      written = file.stat();
      options.lease?.leaves(written);
      step?.done(written);
    } catch (error) {
      step?.cancel();
      removeIfPresent(target, temporary);
      throw error;
    }
  }
  if (durable === true) await syncEntry(target);
  return written;
}

/** Flushes the name of an entry to disk, and the names of the folders that were made for it. */
export async function syncEntry({ dir, syncMade }: Pick<ReplaceTarget, 'dir' | 'syncMade'>): Promise<void> {
  await dir.sync();
  await syncMade?.();
}

interface Logged {
  /** The step in the history that this is. */
  readonly step: PendingStep | undefined;
  /** The lease under which it is made. */
  readonly lease?: FileLease | undefined;
}

/**
 * Renames a complete temporary file to its name, if what is there may be replaced. Under a lease, a file that is gone
 * was removed by the next holder (`lease_lost`), and an error of the file system does not tell whether it was renamed:
 * what has the name after all caches have expired does. Else the same change would be made twice.
 */
async function land(
  target: ReplaceTarget,
  { temporary, file }: { readonly temporary: string; readonly file: OpenFile },
  options: ReplaceOptions & Logged,
): Promise<void> {
  try {
    renameInto(target, temporary, options);
  } catch (error) {
    const isGone = isFenceError(error, 'not_found');
    if (options.lease === undefined || !(isGone || isTransient(error))) throw error;
    options.lease.leavesUnknown();
    if (refreshed(target)?.ino === file.stats.ino) return;
    if (!target.dir.isLocal()) await sleep(CACHED_MS);
    if (refreshed(target)?.ino === file.stats.ino) return;
    throw isGone ? new FileError('lease_lost', {}, { cause: error }) : error;
  }
}

/** Renames a complete temporary file to its name, if what is there may be replaced. */
function renameInto(target: ReplaceTarget, temporary: string, options: ReplaceOptions & Logged): void {
  const { dir, name } = target;
  const { over = 'anything', expected, step, lease } = options;
  if (expected !== undefined) renameOverVersion(target, temporary, expected, { step, lease });
  else if (typeof over === 'object') swapIfUnchanged(target, temporary, over, { step, lease });
  else if (over === 'nothing') dir.renameNoReplace(temporary, dir, name);
  else dir.rename(temporary, dir, name);
}

function renameOverVersion(target: ReplaceTarget, temporary: string, expected: string, logged: Logged): void {
  const { dir, name } = target;
  try {
    const now = lstatBeforeLink(target, logged);
    assertVersion(now, expected);
    if (now === undefined) dir.renameNoReplace(temporary, dir, name);
    else swapIfUnchanged(target, temporary, now, logged);
  } catch (error) {
    if (!(isFileError(error, 'changed_meanwhile') || isFenceError(error, 'already_exists'))) throw error;
    throw mismatch(expected, dir.lstat(name));
  }
}

/**
 * Raises why the entry cannot be replaced by a file: `is_directory`, `special_file`, or what `Dir.assertWritable`
 * raises for a file that this process may not write, since a rename would replace it regardless. A missing entry or a
 * link passes.
 */
export function assertReplaceable({ dir, name, stats }: ReplaceTarget): void {
  if (stats === undefined || stats.isSymbolicLink()) return;
  if (stats.isDirectory()) throw new FenceError('is_directory', {});
  if (!stats.isFile()) throw new FenceError('special_file', {});
  dir.assertWritable(name);
}

/**
 * Replaces a file by the temporary one, but only if it is unchanged since `before` (compare-and-swap). The caller holds
 * the lock of the folder, so only another program can get between the check and the rename. Against that, the two files
 * are exchanged (RENAME_EXCHANGE, https://man7.org/linux/man-pages/man2/rename.2.html), and exchanged back if what came
 * out is not the expected file. Where the system has no exchange, a window of microseconds remains. A program that has
 * the old file open and writes to it after the exchange writes to a file that has no name any more.
 */
function swapIfUnchanged(target: ReplaceTarget, temporary: string, before: Stats, logged: Logged): void {
  const { dir, name } = target;
  const now = lstatBeforeLink(target, logged);
  if (!isUnchanged(before, now) || now?.ctimeMs !== before.ctimeMs) throw new FileError('changed_meanwhile', {});
  // A server that goes on without the store of the leases may have replaced what this machine still shows.
  if (logged.lease !== undefined && !dir.isStored(name)) throw new FileError('changed_meanwhile', {});
  if (!dir.exchange(temporary, name)) dir.rename(temporary, dir, name);
  else if (isUnchanged(before, dir.lstat(temporary))) dir.unlink(temporary);
  else {
    dir.exchange(temporary, name);
    throw new FileError('changed_meanwhile', {});
  }
}

/** Stats an entry as it was before the history made a link to it, which changes its status and so its version. */
function lstatBeforeLink({ dir, name }: ReplaceTarget, { step }: Logged): Stats | undefined {
  const now = dir.lstat(name);
  return step === undefined ? now : step.beforeLink(now);
}

function isUnchanged(before: Stats, now: Stats | undefined): boolean {
  return isSameFile(before, now) && now?.size === before.size && now.mtimeMs === before.mtimeMs;
}

/** Reports whether both entries exist and are the same file (device and inode), whatever their names. */
export function isSameFile(a: Stats | undefined, b: Stats | undefined): boolean {
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

/**
 * Gives a file the owner and group of `stats`, as far as this process may. Reports whether the file now has both. If
 * not, the caller must drop the set-user-ID and set-group-ID bits, or a program would run with the rights of another
 * user.
 */
export function copyOwner(file: OpenFile, { uid, gid }: Stats, now = file.stat()): boolean {
  if (now.uid === uid && now.gid === gid) return true;
  if (chownIfAllowed(file, uid, gid)) return true;
  // Only root may change the owner, but any member of a group may set it. Failing at both is no reason to lose the
  // content.
  chownIfAllowed(file, now.uid, gid);
  return false;
}

function chownIfAllowed(file: OpenFile, uid: number, gid: number): boolean {
  try {
    file.chown(uid, gid);
    return true;
  } catch (error) {
    if (!isFenceError(error, 'permission_denied')) throw error;
    return false;
  }
}

/** Removes the temporary entry of a change that has failed, unless it has its final name by now. */
export function removeIfPresent({ dir }: ReplaceTarget, temporary: string): void {
  try {
    dir.unlink(temporary);
  } catch (error) {
    if (!isFenceError(error, 'not_found')) throw error;
  }
}
