import type { Stats } from 'node:fs';
import { type Dir, type Location, lockFolder, type Name, type Root, temporaryName } from '../fence/index.ts';
import { discardTree } from '../files/remove/remove-folder.ts';
import { copyOwner, syncEntry } from '../files/write/replace-file.ts';
import { type Change, type History, textToName } from '../history/index.ts';
import type { Caller } from '../runtime/operation-context.ts';
import { UndoError } from './errors.ts';
import type { PastNode } from './past/past-node.ts';
import { PastTree } from './past/past-tree.ts';
import { settledSteps } from './settle.ts';

/** A moment of the past: a time in milliseconds since 1970, or just before or after a change. */
export type PastMoment = number | { readonly before: string } | { readonly after: string };

/** What to restore, and where. */
export interface RestoreOptions {
  /** From the top of the root. */
  readonly path: string;
  readonly at: PastMoment;
  /** Another path for it; by default its own. */
  readonly to?: string | undefined;
  readonly caller: Caller;
  /** Flush to disk before returning. True by default. */
  readonly durable?: boolean;
}

/** Returns a root as it was at a moment. Use it before anything is changed. */
export function treeAt(history: History, at: PastMoment): PastTree {
  const tree = new PastTree(history);
  for (const past of settledSteps(history)) {
    const { change, number, time } = past.step;
    if (typeof at === 'number' ? time < at : 'after' in at && change === at.after) break;
    if (past.happened) tree.rewind(past);
    if (typeof at === 'object' && 'before' in at && change === at.before && number === 0) break;
  }
  return tree;
}

/**
 * Puts a file, a link or a folder back as it was, as a copy, so that the history stays as it is. What is there now is
 * kept. Raises `no_past_entry` if there was none at that time, and what writing raises.
 */
export async function restoreEntry(
  history: History,
  root: Root,
  { path, at, to = path, caller, durable = true }: RestoreOptions,
): Promise<{ readonly change: string }> {
  const node = path === '' ? undefined : treeAt(history, at).find(path);
  if (node === undefined) throw new UndoError('no_past_entry', {}, { path, root: root.name });
  const change = history.changeOf({ ...caller });
  using location = root.locate(root.parse(to), { follow: false, makeParents: true, onMake: change.onMake });
  const { dir } = location;
  dir.assertMayPut(location.name, node.type === 'directory');
  const temporary = temporaryName(dir);
  try {
    await copyNode(node, dir, { name: temporary, as: location.name });
    if (durable) await dir.syncFilesystem();
    await putCopy(location, temporary, { change, durable });
  } catch (error) {
    if (dir.lstat(temporary)?.isDirectory()) await discardTree(dir, temporary);
    else if (dir.has(temporary)) dir.unlink(temporary);
    throw error;
  }
  if (durable) await syncEntry(location);
  return { change: change.id };
}

/** Gives a complete copy its name. A folder, or what a folder replaces, is removed first, and kept. */
async function putCopy(
  location: Location,
  temporary: string,
  { change, durable }: { readonly change: Change; readonly durable: boolean },
): Promise<void> {
  const { dir, name } = location;
  using _lock = await lockFolder(dir);
  const copy = dir.lstat(temporary) as Stats;
  const there = dir.lstat(name);
  if (there !== undefined && (there.isDirectory() || copy.isDirectory())) {
    await change.remove(location, { durable, discard: () => dir.unlink(name) });
  }
  const step = await change.put(location, copy);
  try {
    if (durable) await step.flush();
    if (dir.has(name)) dir.rename(temporary, dir, name);
    else dir.renameNoReplace(temporary, dir, name);
    step.done(dir.lstat(name));
  } catch (error) {
    step.cancel();
    throw error;
  }
}

/** Copies an entry of the past: content, owner, mode and time of modification. */
async function copyNode(node: PastNode, dir: Dir, { name, as }: { name: Name; as: Name }): Promise<void> {
  const owner = node.origin?.lstat();
  if (node.type === 'directory') {
    dir.mkdir(name, 0o700);
    using folder = dir.openDir(name, as);
    for (const [text, child] of node.entries()) {
      const inner = textToName(text);
      await copyNode(child, folder, { name: inner, as: inner });
    }
    folder.chmod('.', node.mode);
  } else if (node.type === 'symlink') dir.symlink(node.target(), name);
  else {
    using file = dir.createInUse(name, 0o600);
    for (const chunk of node.chunks()) file.writeAll(chunk);
    const isOwned = owner === undefined || copyOwner(file, owner);
    file.chmod(node.mode & (isOwned ? 0o7777 : 0o777));
  }
  dir.setMtime(name, node.mtimeNs());
}
