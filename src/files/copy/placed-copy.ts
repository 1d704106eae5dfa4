import type { Stats } from 'node:fs';
import { type Dir, FenceError, temporaryName } from '../../fence/index.ts';
import { discardTree } from '../remove/remove-folder.ts';
import { isSameFile } from '../write/replace-file.ts';

/**
 * A complete copy under its final name. What it replaced is kept under a hidden name, for the caller to discard, or for
 * `undo`.
 */
export class PlacedCopy {
  /** The hidden name of what was replaced; undefined if there was nothing. */
  readonly replaced: string | undefined;
  readonly #dir: Dir;
  readonly #name: string;
  readonly #copy: Stats | undefined;

  private constructor({ dir, name }: CopyTarget, replaced: string | undefined) {
    this.#dir = dir;
    this.#name = name;
    this.#copy = dir.lstat(name);
    this.replaced = replaced;
  }

  /**
   * Renames a copy with a hidden name to its final one, in one step. A copy of a folder may replace an empty folder,
   * any other a file or a link. The caller holds the lock of the folder. Raises what `assertPlaceable` raises, and has
   * changed nothing then.
   */
  static place(target: CopyTarget, hidden: string, { overwrite }: { readonly overwrite: boolean }): PlacedCopy {
    const { dir, name } = target;
    const isFolder = dir.lstat(hidden)?.isDirectory() ?? false;
    assertPlaceable(target, { overwrite, isFolder });
    if (!overwrite || dir.lstat(name) === undefined) {
      dir.renameNoReplace(hidden, dir, name);
      return new PlacedCopy(target, undefined);
    }
    const replaced = dir.exchange(hidden, name) ? hidden : setAside(target, hidden);
    const placed = new PlacedCopy(target, replaced);
    try {
      if (isFolder) assertEmpty(dir, replaced);
    } catch (error) {
      placed.#bringBack(hidden, replaced);
      throw error;
    }
    return placed;
  }

  /**
   * Brings back what the copy replaced, unless somebody else has replaced the copy since. The caller holds the lock of
   * the folder. Returns the hidden name of what is to be discarded, if anything is.
   */
  undo(): string | undefined {
    if (!isSameFile(this.#copy, this.#dir.lstat(this.#name))) return this.replaced;
    const hidden = temporaryName();
    this.#bringBack(hidden, this.replaced);
    return hidden;
  }

  /** Gives the copy a hidden name, and what it replaced its former one, without a moment at which a file is missing. */
  #bringBack(hidden: string, replaced: string | undefined): void {
    const [dir, name] = [this.#dir, this.#name];
    if (replaced === undefined) dir.rename(name, dir, hidden);
    else if (dir.exchange(replaced, name)) dir.rename(replaced, dir, hidden);
    else {
      if (this.#copy?.isDirectory()) dir.rename(name, dir, hidden);
      dir.rename(replaced, dir, name);
    }
  }
}

interface CopyTarget {
  readonly dir: Dir;
  readonly name: string;
}

/**
 * Raises why a copy cannot get its name: `already_exists` without `overwrite`, and with it what rename(2) would raise,
 * `is_directory`, `not_directory` or `not_empty`.
 */
export function assertPlaceable(
  { dir, name }: CopyTarget,
  { overwrite, isFolder }: { readonly overwrite: boolean; readonly isFolder: boolean },
): void {
  const there = dir.lstat(name);
  if (there === undefined) return;
  if (!overwrite) throw new FenceError('already_exists', {});
  if (there.isDirectory() !== isFolder) throw new FenceError(isFolder ? 'not_directory' : 'is_directory', {});
  if (isFolder) assertEmpty(dir, name);
}

/**
 * Replaces an entry where the system cannot exchange two of them, and returns the hidden name under which it is kept. A
 * second name for it is made first, so that a process that is killed here leaves the old entry or the new one. Folders,
 * and files on a file system without hard links, are renamed twice instead.
 */
function setAside({ dir, name }: CopyTarget, hidden: string): string {
  const aside = temporaryName();
  const linked = !dir.lstat(name)?.isDirectory() && dir.link(name, aside);
  if (!linked) dir.rename(name, dir, aside);
  try {
    dir.rename(hidden, dir, name);
  } catch (error) {
    if (linked) dir.unlink(aside);
    else dir.rename(aside, dir, name);
    throw error;
  }
  return aside;
}

function assertEmpty(parent: Dir, name: string): void {
  using dir = parent.openDir(name);
  if (dir.list(true).length > 0) throw new FenceError('not_empty', {});
}

/** Removes an entry with a hidden name, if there is one. */
export async function discard(dir: Dir, hidden: string | undefined): Promise<void> {
  if (hidden === undefined) return;
  const stats = dir.lstat(hidden);
  if (stats?.isDirectory()) await discardTree(dir, hidden);
  else if (stats !== undefined) dir.unlink(hidden);
}
