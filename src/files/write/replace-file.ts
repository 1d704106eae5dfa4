import type { Stats } from 'node:fs';
import { type Dir, FenceError, isFenceError, type Name, type OpenFile, temporaryName } from '../../fence/index.ts';
import { freeLater } from '../deferred-free.ts';
import { FileError } from '../errors.ts';
import { isSameFile } from '../same-file.ts';

/** An entry of an open folder; a Location is one. */
export interface ReplaceTarget {
  readonly dir: Dir;
  readonly name: Name;
  /** What is there now, if anything. */
  readonly stats: Stats | undefined;
}

export interface ReplaceOptions {
  /** Wait until the disk has it, which is the default. */
  readonly durable?: boolean;
  /** What may be at the place: anything replaceable, nothing at all, or exactly the file that was read before. */
  readonly over?: 'anything' | 'nothing' | Stats;
  /** Permission bits; those of the replaced file if absent. */
  readonly mode?: number;
}

/**
 * Puts a file in place whole or not at all: written beside it, flushed, then renamed over it. Owner and mode of a
 * replaced file are kept, set-id bits only together with the owner. A file that this process may not write is not
 * replaced (`permission_denied`).
 * Raises `already_exists` or `changed_meanwhile` as `over` demands. A failure leaves what was there and nothing else.
 * Returns what the new file is.
 */
export async function replaceFile(
  place: ReplaceTarget,
  fill: Uint8Array | ((file: OpenFile) => Promise<void>),
  { durable = true, over = 'anything', mode }: ReplaceOptions,
): Promise<Stats> {
  const { dir, name, stats } = place;
  if (stats !== undefined && over === 'nothing') throw new FenceError('already_exists', {});
  if (stats !== undefined) assertReplaceable(place);
  using _held = freeLater(place);
  const temporary = temporaryName();
  let written: Stats;
  {
    using file = dir.createFile(temporary);
    try {
      const kept = stats !== undefined && copyOwner(file, stats);
      const wanted = mode ?? (stats && stats.mode & (kept ? 0o7777 : 0o777));
      // Most files have what a new one is given.
      if (wanted !== undefined && wanted !== (file.stats.mode & 0o7777)) file.chmod(wanted);
      if (typeof fill === 'function') await fill(file);
      else file.writeAll(fill);
      written = file.stat();
      if (durable) await file.sync();
      if (typeof over === 'object') swapIfUnchanged(place, temporary, over);
      else if (over === 'nothing') dir.renameNoReplace(temporary, dir, name);
      else dir.rename(temporary, dir, name);
    } catch (error) {
      removeIfPresent(place, temporary);
      throw error;
    }
  }
  if (durable) await dir.sync();
  return written;
}

/** Raises why the entry at a place cannot be replaced by a file: a folder, a special file, one we may not write. */
export function assertReplaceable({ dir, name, stats }: ReplaceTarget): void {
  if (stats === undefined || stats.isSymbolicLink()) return;
  if (stats.isDirectory()) throw new FenceError('is_directory', {});
  if (!stats.isFile()) throw new FenceError('special_file', {});
  dir.assertWritable(name);
}

/**
 * Puts the temporary file in the place of one that was read before, and of no other. Nothing else in this process runs
 * between the look and the rename. Another process might; so the two change places, and if what comes out is not what was
 * expected, they change back. Where that is not possible some microseconds remain.
 */
function swapIfUnchanged({ dir, name }: ReplaceTarget, temporary: string, before: Stats): void {
  const now = dir.lstat(name);
  if (!isUnchanged(before, now) || now?.ctimeMs !== before.ctimeMs) throw new FileError('changed_meanwhile', {});
  if (!dir.exchange(temporary, name)) dir.rename(temporary, dir, name);
  else if (isUnchanged(before, dir.lstat(temporary))) dir.unlink(temporary);
  else {
    dir.exchange(temporary, name);
    throw new FileError('changed_meanwhile', {});
  }
}

function isUnchanged(before: Stats, now: Stats | undefined): boolean {
  return isSameFile(before, now) && now?.size === before.size && now.mtimeMs === before.mtimeMs;
}

/**
 * Gives a file the owner and group of another, as far as this process may. Returns whether it has both: if not, the
 * mode's set-id bits must go, or what ran with one user's rights would run with another's.
 */
export function copyOwner(file: OpenFile, { uid, gid }: Stats): boolean {
  const now = file.stat();
  if (now.uid === uid && now.gid === gid) return true;
  if (chownIfAllowed(file, uid, gid)) return true;
  // Only root may give files away, but a member may keep the group; the content matters more than either.
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

function removeIfPresent({ dir }: ReplaceTarget, temporary: string): void {
  try {
    dir.unlink(temporary);
  } catch (error) {
    if (!isFenceError(error, 'not_found')) throw error;
  }
}
