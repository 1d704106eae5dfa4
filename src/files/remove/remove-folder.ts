import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CallerPath,
  type CheckedTree,
  checkTree,
  type Dir,
  type Entry,
  FenceError,
  isAppendJournalName,
  isFenceError,
  isLeftover,
  isTemporaryName,
  type Location,
  type Name,
  nameOfHeld,
  ownerState,
  type Root,
  type RootPath,
  removeStaleLock,
  withLocation,
} from '../../fence/index.ts';
import {
  type Change,
  changeIn,
  type DirEntry,
  type PendingStep,
  pathInside,
  type RootEntry,
} from '../../history/index.ts';
import { DEFAULT_CONTEXT, type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { deferFree } from '../deferred-free.ts';
import { FileError } from '../errors.ts';
import { leasesOf } from '../lease/leases.ts';
import { type ChangeAttempt, retryChange } from '../lease/retry-change.ts';
import { renameFree } from '../rename-free.ts';
import { undoAppend } from '../write/append-journal.ts';
import { assertVersion } from '../write/if-match.ts';

/** Longer than a process takes between making a temporary entry and marking it as in use. */
const MARKING_MS = 20;
/** How often a folder is emptied on a shared file system, whose lists may be outdated. */
const EMPTY_ATTEMPTS = 3;
const DISCARD_ATTEMPTS = 5;
const DISCARD_AGAIN_MS = 100;

/** Options of `removeFolder`. */
export interface RemoveOptions {
  /** Flush to disk before returning (the default). */
  readonly durable?: boolean;
  /** Remove a folder's content too (the default); otherwise a folder that is not empty is `not_empty`. */
  readonly recursive?: boolean;
  /** Continue past entries that cannot be removed, and raise the first failure at the end. */
  readonly keepGoing?: boolean;
  /** Remove only if the entry itself still has this version. What is in a folder is not compared. */
  readonly ifMatch?: string | undefined;
}

/**
 * Removes a folder and everything in it, and returns how many entries were removed. Links are removed themselves, never
 * followed. Not atomic: after a failure or an abort, what was removed stays removed. What others put into it meanwhile
 * makes it `not_empty`; in a shared file system that other servers change, too, that is removed as well, a few times.
 *
 * Raises `not_found`, `not_directory` (also for a link to a folder), `root_itself`, `not_empty`, `not_allowed` if it
 * holds something denied or protected, `version_mismatch`, and the reason of an aborted signal.
 */
export async function removeFolder(
  root: Root,
  path: CallerPath,
  options: RemoveOptions = {},
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<{ entries: number }> {
  const remove = async (attempt: ChangeAttempt): Promise<{ entries: number }> => {
    using found = root.locate(path, { follow: false });
    if (found.stats === undefined) throw new FenceError('not_found', {});
    if (options.ifMatch !== undefined) assertVersion(found.stats, options.ifMatch);
    if (!found.stats.isDirectory()) throw new FenceError('not_directory', {});
    return { entries: await removeLocatedFolder({ root, path, at: found, attempt }, options, context) };
  };
  return withLocation(root, path, () => retryChange([root], context.signal, remove));
}

interface LocatedFolder extends RootPath {
  readonly at: Location;
  /** Hears when the removal begins. */
  readonly attempt: ChangeAttempt;
}

/**
 * Removes a folder that is already located, and returns how many entries were removed. Raises what `removeFolder`
 * raises.
 */
export async function removeLocatedFolder(
  { root, path, at, attempt }: LocatedFolder,
  { durable = true, recursive = true, keepGoing = false }: RemoveOptions,
  context: OperationContext,
): Promise<number> {
  const { dir, name } = at;
  if (name === '.') throw new FileError('root_itself', { action: 'remove' });
  const change = changeIn(root, context.caller);
  if (!recursive) await removeLeftovers(dir, name);
  const check = (to?: DirEntry) =>
    checkTree({ dir, name }, { from: { root, path }, to, count: to !== undefined, pause: yieldPoint(context) });
  if (change !== undefined) attempt.onLanded();
  let removed = change && (await keepFolder(change, at, { durable, recursive, check }));
  if (removed === undefined && recursive) {
    using _checked = await check();
    attempt.onLanded();
    // What others add to a folder is theirs, but on a shared file system it may only have been missing from its list.
    const keepAdded = leasesOf(root)?.isShared(root) !== true;
    const kept = change && { change, path: at.path, durable };
    removed = await removeTree(at, { keepGoing, keepAdded, kept }, context);
  } else if (removed === undefined) {
    attempt.onLanded();
    const step = change?.unmake(at);
    removed = removeEmpty(at, step);
  }
  if (durable) await dir.sync();
  return removed;
}

interface KeepOptions {
  readonly durable: boolean;
  readonly recursive: boolean;
  check(to: DirEntry): Promise<CheckedTree>;
}

/**
 * Removes a folder by moving it to what the history keeps, in one step, and returns how many entries that are.
 * Undefined if it is on another file system than the history.
 */
async function keepFolder(
  change: Change,
  at: Location,
  { durable, recursive, check }: KeepOptions,
): Promise<number | undefined> {
  let entries = 0;
  const countedCheck = async (place: DirEntry): Promise<CheckedTree> => {
    const checked = await check(place);
    ({ entries } = checked);
    if (recursive || entries === 0) return checked;
    checked[Symbol.dispose]();
    throw new FenceError('not_empty', {});
  };
  const isKept = await change.remove(at, { durable, check: countedCheck, discard: () => at.dir.rmdir(at.name) });
  return isKept ? entries + 1 : undefined;
}

function removeEmpty({ dir, name }: DirEntry, step: PendingStep | undefined): number {
  try {
    dir.rmdir(name);
    step?.done();
    return 1;
  } catch (error) {
    step?.cancel();
    throw error;
  }
}

/**
 * Removes the temporary files that killed processes left in a folder. No tool lists them, so they must not make a
 * folder that looks empty `not_empty`. Stops at the first other entry, with which the folder is not empty anyway.
 */
async function removeLeftovers(parent: Dir, name: Name): Promise<void> {
  using dir = parent.openDir(name);
  for (const entry of dir.list(true)) if (!(await removeIfLeftover(dir, entry))) return;
}

/**
 * Removes an entry if it is a temporary file or folder of a killed process, and reports whether it was. One that the
 * process only held, such as the source of a move, gets its name back.
 */
export async function removeIfLeftover(dir: Dir, { name, raw }: Entry): Promise<boolean> {
  if (!isTemporaryName(name)) return false;
  if (removeStaleLock(dir, raw)) return true;
  if (isAppendJournalName(name)) return undoAppend(dir, raw);
  const stats = dir.lstat(raw);
  if (stats === undefined || !isLeftover(dir, name)) return false;
  if (ownerState(name) === 'unknown') {
    // Its process may have made the entry just now, and mark it as in use next.
    await sleep(MARKING_MS);
    if (!isLeftover(dir, name)) return false;
  }
  const own = nameOfHeld(name);
  if (own !== undefined) renameFree({ dir, name: raw }, { dir, name: own });
  else if (stats.isDirectory()) await discardTree(dir, raw);
  else dir.unlink(raw);
  return true;
}

/**
 * Removes an unfinished copy. Its folders are made writable first: they may already have the read-only modes of the
 * source. Without descriptors, it waits a moment for other calls to give some back; what is empty needs none.
 */
export async function discardTree(dir: Dir, name: Name): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await removeTree({ dir, name }, { unlock: true }, DEFAULT_CONTEXT);
      return;
    } catch (error) {
      if (!isFenceError(error, 'exhausted')) throw error;
      if (removeIfEmpty(dir, name)) return;
      if (attempt === DISCARD_ATTEMPTS) throw error;
    }
    await sleep(DISCARD_AGAIN_MS);
  }
}

function removeIfEmpty(dir: Dir, name: Name): boolean {
  try {
    dir.rmdir(name);
    return true;
  } catch (error) {
    if (error instanceof FenceError) return false;
    throw error;
  }
}

interface TreeOptions extends Pick<RemoveOptions, 'keepGoing'> {
  /** Keep what others put into a folder after it was listed, and raise `not_empty`; by default, that is removed, too. */
  readonly keepAdded?: boolean;
  /** Make each folder writable before emptying it. */
  readonly unlock?: boolean;
  /** Called between entries; by default, other operations get their turn there. */
  pause?(): Promise<void> | undefined;
  /** The change in the root's history that keeps each entry, and the path of the folder from the top of the root. */
  readonly kept?: KeptTree | undefined;
}

interface KeptTree {
  readonly change: Change;
  readonly path: string;
  readonly durable: boolean;
}

/**
 * Removes a folder by its name in an open parent, and returns how many entries were removed. Each level is entered by
 * descriptor, so a concurrent rename cannot lead outside. Raises what removing an entry raises, and the reason of an
 * aborted signal.
 */
export async function removeTree(
  { dir: parent, name }: DirEntry,
  { keepGoing = false, keepAdded = false, unlock = false, kept, ...options }: TreeOptions,
  context: OperationContext,
): Promise<number> {
  const pause = options.pause ?? yieldPoint(context);
  let removed = 0;
  let failure: unknown;

  async function empty(dir: Dir, path: string): Promise<void> {
    for (const entry of dir.list(true)) {
      const wait = pause();
      if (wait !== undefined) await wait;
      try {
        const inner = { dir, name: entry.raw, path: pathInside(path, entry.raw) };
        if (entry.type === 'directory') await removeInner(inner);
        else if (kept === undefined) removeFile(inner);
        else await keepFile(inner, kept);
        removed += 1;
      } catch (error) {
        if (!keepGoing || context.signal.aborted) throw error;
        failure ??= error;
      }
      context.progress?.(removed);
    }
  }

  async function removeInner(at: RootEntry): Promise<void> {
    if (unlock) ignoreMissing(() => at.dir.chmod(at.name, 0o700));
    for (let attempt = 1; ; attempt += 1) {
      {
        using child = ignoreMissing(() => at.dir.openDir(at.name));
        if (child !== undefined) await empty(child, at.path);
      }
      const step = kept?.change.unmake(at);
      try {
        ignoreMissing(() => removeEmpty(at, step));
        return;
      } catch (error) {
        // Something was added since the folder was listed, or another machine had added it just before.
        const isAdded = !keepAdded && failure === undefined && isFenceError(error, 'not_empty');
        if (!isAdded || attempt === EMPTY_ATTEMPTS) throw error;
      }
    }
  }

  try {
    await removeInner({ dir: parent, name, path: kept?.path ?? '' });
  } catch (error) {
    // With `keepGoing`, `not_empty` is only a consequence of the first failure.
    throw isFenceError(error, 'not_empty') ? (failure ?? error) : error;
  }
  return removed + 1;
}

async function keepFile(at: RootEntry, { change, durable }: KeptTree): Promise<void> {
  await change.remove(at, { durable, discard: () => at.dir.unlink(at.name) });
}

function removeFile({ dir, name }: DirEntry): void {
  using _held = deferFree({ dir, name, stats: dir.statLite(name) });
  ignoreMissing(() => dir.unlink(name));
}

/** Runs `work`; returns undefined if the entry was removed concurrently. */
function ignoreMissing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!isFenceError(error, 'not_found')) throw error;
    return undefined;
  }
}
