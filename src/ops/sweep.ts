import { isCode } from '../errors.ts';
import {
  type Dir,
  type Entry,
  isLeftover,
  isTemporary,
  type Name,
  parseCallerPath,
  type Root,
} from '../fence/index.ts';
import type { Control } from './control.ts';
import { leisure } from './leisure.ts';
import { discardTree } from './remove-folder.ts';

/** Removes temporary files and folders that killed processes left anywhere in a root, at leisure. Returns how many. */
export async function sweepLeftovers(root: Root, { signal }: Pick<Control, 'signal'>): Promise<number> {
  const pause = leisure(signal);
  let swept = 0;

  async function sweep(dir: Dir): Promise<void> {
    const folders: Name[] = [];
    for (const part of dir.listInParts(true)) {
      await pause();
      for (const entry of sift(part, folders)) swept += (await tried(() => discard(dir, entry))) ? 1 : 0;
    }
    for (const folder of folders) {
      await pause();
      await tried(async () => {
        using child = dir.openDir(folder);
        await sweep(child);
      });
    }
  }

  using top = root.openDir(parseCallerPath('.'));
  await sweep(top);
  return swept;
}

/** Returns what might be leftovers, and adds what else might hold some. */
function sift(entries: readonly Entry[], folders: Name[]): Entry[] {
  const temporary: Entry[] = [];
  for (const entry of entries) {
    if (isTemporary(entry.name)) temporary.push(entry);
    else if (entry.type === 'directory') folders.push(entry.raw);
  }
  return temporary;
}

/** Tells whether it was a leftover. */
async function discard(dir: Dir, { name, raw }: Entry): Promise<boolean> {
  const stats = dir.lstat(raw);
  if (stats === undefined || !isLeftover(name, stats)) return false;
  if (stats.isDirectory()) await discardTree(dir, raw);
  else dir.unlink(raw);
  return true;
}

/** Undefined for what this process may not enter or remove: it did not leave that there. */
async function tried<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!isCode(error, 'permission_denied', 'not_found', 'not_directory', 'read_only', 'link_loop')) throw error;
    return undefined;
  }
}
