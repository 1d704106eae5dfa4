import type { Stats } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  checkTree,
  type Dir,
  FenceError,
  fromSystem,
  heldName,
  isFenceError,
  isTransient,
  lockFolder,
  lockFolders,
  type OpenFile,
  type Root,
  temporaryName,
  withLocation,
} from '../../fence/index.ts';
import { changeIn, type DirEntry, type PendingStep } from '../../history/index.ts';
import { DEFAULT_CONTEXT, type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { deferFree } from '../deferred-free.ts';
import { FileError, isFileError } from '../errors.ts';
import type { EntryLeases } from '../lease/lease-entries.ts';
import { leasesOf } from '../lease/leases.ts';
import { refreshed } from '../lease/see-latest.ts';
import { CACHED_MS, isReplaced } from '../lease/stamp.ts';
import { removeTree } from '../remove/remove-folder.ts';
import { removeIfAsBefore } from '../remove/remove-if-as-before.ts';
import { ABSENT, assertVersion, mismatch } from '../write/if-match.ts';
import { isSameFile, syncEntry } from '../write/replace-file.ts';
import { attemptStep } from './attempt-step.ts';
import { copyFile } from './copy-file.ts';
import { copyTree, type OpenTree } from './copy-tree.ts';
import { assertExpected, atEnd, bringBack, type MoveEnd, type MoveJob } from './move-job.ts';
import { assertPlaceable, discard, PlacedCopy } from './placed-copy.ts';
import { assertRemovable, proveRemovable } from './removable-tree.ts';
import { type TreeDigest, treeDigest } from './tree-digest.ts';

/**
 * Moves an entry to another filesystem: copies it under a hidden name, flushes and verifies the copy, gives it its
 * name, flushes that, and only then removes the source. What the copy replaces is kept until the source is gone. So
 * there is no moment at which neither end is complete, on disk too with `durable`, and a source that cannot be removed
 * leaves both ends as they were. The leases on the ends, where they have some, are confirmed before each of both steps.
 *
 * Raises what `move` raises.
 */
export async function moveAcross(move: MoveJob, leases: EntryLeases | undefined): Promise<void> {
  const { source, target, options } = move;
  const { dir } = target.at;
  const { overwrite = true } = options;
  assertPlaceable(target.at, { overwrite, isFolder: source.at.stats?.isDirectory() ?? false });
  // Known before anything is copied in most cases; the rest shows when the source is removed.
  atEnd(source, (at) => at.dir.assertChangeable());
  const hidden = temporaryName(dir);
  using copied = await copySource(move, hidden);
  const finish = () => finishMove({ move, leases, hidden, copied });
  await (leases === undefined ? finish() : leases.change(finish));
}

interface CopiedMove {
  readonly move: MoveJob;
  readonly leases: EntryLeases | undefined;
  /** The hidden name of the complete copy. */
  readonly hidden: string;
  readonly copied: CopiedSource;
}

/** Gives the copy its name, and removes the source. Where both ends are as before, the attempt may be made again. */
async function finishMove({ move, leases, hidden, copied }: CopiedMove): Promise<void> {
  const { source, target, options, attempt } = move;
  const { dir } = target.at;
  const { overwrite = true, durable = true, ifDestination } = options;
  let placed: PlacedCopy;
  let step: PendingStep | undefined;
  try {
    await leases?.confirm();
    using _locks = leases?.areComplete ? undefined : await lockFolders(source.at.dir, dir);
    assertExpected(move);
    copied.assertUnchanged();
    step = await changeIn(target.root, move.context.caller)?.put(target.at, dir.lstat(hidden) as Stats);
    if (durable) await step?.flush();
    // This process may have been stopped since the destination was looked at.
    placed = PlacedCopy.place(target.at, hidden, { overwrite: overwrite && ifDestination !== ABSENT });
    step?.done(dir.lstat(target.at.name));
  } catch (error) {
    step?.cancel();
    await discard(dir, hidden);
    if (!isTransient(fromSystem(error))) attempt.mayHaveLanded = false;
    const isTaken = ifDestination === ABSENT && isFenceError(error, 'already_exists');
    throw isTaken ? mismatch(ABSENT, dir.lstat(target.at.name)) : error;
  }
  try {
    if (durable) await syncEntry(target.at);
    await copied.removeSource(leases);
  } catch (error) {
    if (!isFileError(error, 'move_incomplete')) {
      await undo(move, placed, error);
      attempt.mayHaveLanded = false;
      step?.cancel();
      throw error;
    }
    await discard(dir, placed.replaced);
    throw error;
  }
  await discard(dir, placed.replaced);
}

async function undo(move: MoveJob, placed: PlacedCopy, cause: unknown): Promise<void> {
  const { dir } = move.target.at;
  try {
    const rest = await undoLocked(dir, placed);
    if (move.options.durable ?? true) await dir.sync();
    await discard(dir, rest);
  } catch {
    throw incomplete(move, cause);
  }
}

async function undoLocked(dir: Dir, placed: PlacedCopy): Promise<string | undefined> {
  using _lock = await lockFolder(dir);
  return placed.undo();
}

/** A complete copy of the source under a hidden name. Dispose of it to close the source. */
interface CopiedSource extends Disposable {
  /** Raises `changed_meanwhile` if the name of the source has come to stand for something else. */
  assertUnchanged(): void;
  /**
   * Removes the source if it is still what was copied. If it raises anything but `move_incomplete`, the source is as it
   * was.
   */
  removeSource(leases: EntryLeases | undefined): Promise<void>;
}

async function copySource(move: MoveJob, hidden: string): Promise<CopiedSource> {
  const { dir } = move.target.at;
  const { stats } = move.source.at;
  try {
    if (stats?.isFile()) return await copyFileAs(move, hidden);
    if (stats?.isDirectory()) return await copyFolderAs(move, hidden);
    if (stats?.isSymbolicLink()) return copyLinkAs(move, hidden);
  } catch (error) {
    await discard(dir, hidden);
    throw error;
  }
  throw new FenceError('special_file', {}, where(move.source));
}

function copyLinkAs(move: MoveJob, hidden: string): CopiedSource {
  const { source, target } = move;
  const before = source.at.stats;
  target.at.dir.symlink(
    atEnd(source, ({ dir, name }) => dir.readlinkBytes(name)),
    hidden,
  );
  const assertUnchanged = (): void => assertSame(source, before);
  return {
    assertUnchanged,
    removeSource: (leases) => unlinkSource(move, leases, assertUnchanged),
    [Symbol.dispose]: () => {},
  };
}

async function copyFileAs(move: MoveJob, hidden: string): Promise<CopiedSource> {
  const { source, target, options, expected, context } = move;
  const file = atEnd(source, ({ dir, name }) => dir.openFile(name));
  try {
    // What is copied is this open file, and before it was opened the name may have come to stand for another.
    if (expected !== undefined) atEnd(source, () => assertVersion(file.stats, expected));
    const durable = (options.durable ?? true) && 'content';
    const to = { dir: target.at.dir, name: hidden, stats: undefined, path: '' };
    const bytes = await copyFile({ ...source, file }, to, { durable, asMoved: true }, context);
    const assertUnchanged = (): void => assertSame(source, file.stats, bytes);
    return {
      assertUnchanged,
      removeSource: (leases) => unlinkSource(move, leases, assertUnchanged),
      [Symbol.dispose]: () => file[Symbol.dispose](),
    };
  } catch (error) {
    file[Symbol.dispose]();
    throw error;
  }
}

/** Raises `changed_meanwhile` if the source is not what it was when it was copied. */
function assertSame(source: MoveEnd, before: OpenFile['stats'] | undefined, bytes = before?.size): void {
  const now = atEnd(source, ({ dir, name }) => dir.lstat(name));
  const unchanged = now?.size === bytes && now?.mtimeMs === before?.mtimeMs && now?.ctimeMs === before?.ctimeMs;
  if (!unchanged || !isSameFile(before, now)) throw new FileError('changed_meanwhile', {}, where(source));
}

async function unlinkSource(
  { source, options, context, attempt }: MoveJob,
  leases: EntryLeases | undefined,
  assertUnchanged: () => void,
): Promise<void> {
  const { dir } = source.at;
  const change = changeIn(source.root, context.caller);
  using _held = change === undefined ? deferFree(source.at) : undefined;
  await leases?.confirm();
  using _lock = leases?.areComplete ? undefined : await lockFolder(dir);
  const before = dir.lstat(source.at.name);
  assertUnchanged();
  const unlink = (): void => atEnd(source, ({ name }) => dir.unlink(name));
  const unlinkCopied = async (): Promise<void> => {
    if (!leases?.areComplete) return unlink();
    const isCopied = await removeIfAsBefore({ ...source.at, before });
    if (!isCopied) throw new FileError('changed_meanwhile', {}, where(source));
  };
  // A copy whose source is gone must not be taken back.
  const isDone = (): boolean => {
    const now = refreshed(source.at);
    return now === undefined || isReplaced(now);
  };
  // A root with history has no leases.
  if (change !== undefined) await change.remove(source.at, { durable: options.durable ?? true, discard: unlink });
  else await attemptStep(attempt, { dir, isDone }, unlinkCopied);
}

async function copyFolderAs(move: MoveJob, hidden: string): Promise<CopiedSource> {
  const { source, target, options, context } = move;
  const original = atEnd(source, ({ dir, name }) => dir.openDir(name));
  try {
    const tree = { root: source.root, path: source.path, dir: original };
    const before = await treeDigest(tree, context);
    target.at.dir.mkdir(hidden, 0o700);
    using fresh = target.at.dir.openDir(hidden, target.at.name);
    using _inUse = fresh.markInUse();
    const job = { source: tree, options: { durable: options.durable ?? true, asMoved: true }, linksAsTheyAre: true };
    await copyTree({ ...job, context, pause: yieldPoint(context) }, fresh);
    const copied = await treeDigest({ root: target.root, path: target.path, dir: fresh }, context);
    if (copied.content !== before.content) throw new FileError('changed_meanwhile', {}, where(source));
    await assertIdentity(tree, before, context);
    await assertRemovable(tree, context);
    return {
      assertUnchanged: () => assertSameFolder(source, original),
      removeSource: () => removeFolder(move, original, before),
      [Symbol.dispose]: () => original[Symbol.dispose](),
    };
  } catch (error) {
    original[Symbol.dispose]();
    throw error;
  }
}

function assertSameFolder(source: MoveEnd, original: Dir): void {
  const now = atEnd(source, ({ dir, name }) => dir.lstat(name));
  if (!isSameFile(original.lstat('.'), now)) throw new FileError('changed_meanwhile', {}, where(source));
}

/** Raises `changed_meanwhile` if anything in a tree has changed since a digest of it was made. */
async function assertIdentity(tree: OpenTree, before: TreeDigest, context: OperationContext): Promise<void> {
  const { identity } = await treeDigest(tree, context);
  if (identity === before.identity) return;
  throw new FileError('changed_meanwhile', {}, { path: tree.path.raw, root: tree.root.name });
}

/**
 * Removes the source folder. It gets a hidden name first, so that nobody adds to it while it is checked once more and
 * emptied. The copy is complete, so an abort would only leave half of the source behind.
 */
async function removeFolder(move: MoveJob, original: Dir, before: TreeDigest): Promise<void> {
  const { source, context } = move;
  const { dir } = source.at;
  const progress = (done: number): void => context.progress?.(done);
  const unstoppable: OperationContext = { signal: DEFAULT_CONTEXT.signal, scheduler: context.scheduler, progress };
  const change = changeIn(source.root, context.caller);
  const durable = move.options.durable ?? true;
  if (change !== undefined) {
    using _lock = await lockFolder(dir);
    assertSameFolder(source, original);
    await assertIdentity({ root: source.root, path: source.path, dir: original }, before, unstoppable);
    const check = (to: DirEntry) => checkTree(source.at, { from: source, to, pause: yieldPoint(unstoppable) });
    if (await change.remove(source.at, { durable, check, discard: () => dir.rmdir(source.at.name) })) return;
  }
  let hidden = await hide(source, original);
  try {
    await awaitOthers(source.root);
    await inHidden(source, hidden, (tree) => assertIdentity(tree, before, unstoppable));
    // From here on, the copy has all that the source has, so a sweep after a kill may remove what is left.
    hidden = release(source, hidden);
    await inHidden(source, hidden, (tree) => proveRemovable(tree, unstoppable));
  } catch (error) {
    const left = unhide(source, hidden);
    throw left === source.path.raw ? error : incomplete(move, error, left);
  }
  try {
    // What is added now, by a program that has the folder open, is in no copy.
    const removing = { keepAdded: true, kept: change && { change, path: source.at.path, durable } };
    await withLocation(source.root, source.path, () => removeTree({ dir, name: hidden }, removing, unstoppable));
  } catch (error) {
    throw incomplete(move, error, unhide(source, hidden));
  }
}

/**
 * Gives the source folder a hidden name and returns it. If this process is killed, the folder gets its own back: what
 * others have changed since it was copied is nowhere else. On overlayfs, some folders cannot be renamed and keep their
 * name.
 */
async function hide(source: MoveEnd, original: Dir): Promise<string> {
  using _lock = await lockFolder(source.at.dir);
  assertSameFolder(source, original);
  const hidden = heldName(source.at.name);
  try {
    atEnd(source, ({ dir, name }) => dir.rename(name, dir, hidden));
    return hidden;
  } catch (error) {
    if (!(isFenceError(error, 'io_error') && error.details.errno === 'EXDEV')) throw error;
    return source.at.name;
  }
}

/**
 * Waits until no other machine shows a folder where it was before it was hidden, so that none writes into it by its
 * former path once it has been compared.
 */
async function awaitOthers(root: Root): Promise<void> {
  const leases = leasesOf(root);
  if (!leases?.isShared(root)) return;
  await leases.noteFolderMove(root);
  await sleep(CACHED_MS);
}

async function inHidden(
  { root, path, at }: MoveEnd,
  hidden: string,
  work: (tree: OpenTree) => Promise<void>,
): Promise<void> {
  using dir = at.dir.openDir(hidden, at.name);
  await work({ root, path, dir });
}

/** Gives a hidden source folder a name by which it is removed if this process is killed, and returns that. */
function release({ at: { dir, name } }: MoveEnd, hidden: string): string {
  if (hidden === name) return hidden;
  const released = temporaryName();
  dir.rename(hidden, dir, released);
  return released;
}

function unhide(source: MoveEnd, hidden: string): string {
  const { dir, name } = source.at;
  return hidden === name ? source.path.raw : bringBack(source, { dir, name: hidden });
}

function incomplete({ source, target }: MoveJob, cause: unknown, left = source.path.raw): FileError {
  const details = { destination: target.path.raw, destinationRoot: target.root.name, left };
  return new FileError('move_incomplete', details, { ...where(source), cause });
}

function where({ root, path }: MoveEnd): { path: string; root: string } {
  return { path: path.raw, root: root.name };
}
