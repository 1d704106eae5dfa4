import {
  type CheckedTree,
  checkTree,
  type Dir,
  FenceError,
  isFenceError,
  type Location,
  lockFolders,
  type RootPath,
  withLocation,
} from '../../fence/index.ts';
import { type Change, changeIn, historyOf, type PendingStep } from '../../history/index.ts';
import { DEFAULT_CONTEXT, type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { deferFree } from '../deferred-free.ts';
import { FileError } from '../errors.ts';
import { awaitLatest } from '../lease/await-latest.ts';
import { leaseEntries } from '../lease/lease-entries.ts';
import { leasesOf } from '../lease/leases.ts';
import { type ChangeAttempt, retryChange } from '../lease/retry-change.ts';
import { refuseOutwardLink } from '../links.ts';
import { canChangeEntries } from '../list/access.ts';
import { undoAppends, undoAppendTo } from '../write/append-journal.ts';
import { expectedVersion } from '../write/if-match.ts';
import { assertReplaceable, isSameFile, syncEntry } from '../write/replace-file.ts';
import { resolveInto } from './copy.ts';
import { assertDisjoint, hostPathOf, prospectiveHostPath } from './host-paths.ts';
import { moveAcross } from './move-across.ts';
import { assertExpected, atEnd, bringBack, type MoveJob } from './move-job.ts';
import { renameExpected } from './rename-expected.ts';

/** Options of `move`. */
export interface MoveOptions {
  /** Flush to disk before returning (the default). */
  readonly durable?: boolean;
  /** Replace an existing file (the default); otherwise it is `already_exists`. */
  readonly overwrite?: boolean;
  /** Move into a destination that is a folder (the default); otherwise the folder counts as existing. */
  readonly intoFolders?: boolean;
  /** Make missing folders above the destination for their owner alone. False by default. */
  readonly isPrivate?: boolean;
  /**
   * Move only if the source is still this entry: a version, or `sha256:` and the hash of the content. For a link, its
   * own version.
   */
  readonly ifMatch?: string | undefined;
  /** Move only if the destination still has this version, or is `absent`. */
  readonly ifDestination?: string | undefined;
}

/**
 * Moves a file, a folder, or a link itself, also between roots. On one filesystem this is one rename(2). Across
 * filesystems the source is copied and flushed, the copy is verified and appears complete, and only then the source is
 * removed; see `moveAcross`.
 *
 * Raises `not_found`, `root_itself`, `is_directory`, `already_exists`, `same_file`, `into_itself`, `special_file`
 * across filesystems, `version_mismatch` if the source is not that of `ifMatch` or the destination not that of
 * `ifDestination`, `changed_meanwhile` if it changes during the copy, `busy` if another process keeps a folder locked,
 * and the reason of an aborted signal. After these, source and destination are as they were. Raises `move_incomplete`
 * if that cannot be done, with the copy complete. Errors carry the path they are about. In a root that other machines
 * change, too, also raises what `leaseEntries` raises; without `ifMatch` and `ifDestination`, a file is moved without
 * leases where none can be had.
 */
export async function move(
  from: RootPath,
  to: RootPath,
  options: MoveOptions = {},
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<{ destination: string }> {
  const moveOnce = async (attempt: ChangeAttempt): Promise<{ destination: string }> => {
    const { signal } = context;
    await awaitLatest(from.root, from.path, { signal, follow: false });
    using at = from.root.locate(from.path, { follow: false });
    if (at.stats === undefined) throw new FenceError('not_found', {});
    if (at.name === '.') throw new FileError('root_itself', { action: 'move' });
    // A journal names the file by its path, which is another one afterwards.
    if (at.stats.isDirectory()) await undoAppends(from.root);
    else await undoAppendTo(from.root, at.stats);
    const end = options.intoFolders === false ? to : resolveInto(from.path, to);
    const expected = options.ifMatch && (await expectedVersion(options.ifMatch, { root: from.root, ...at, context }));
    await awaitLatest(end.root, end.path, { signal, follow: false });
    const job = { source: { ...from, at }, options, expected, context, attempt };
    await withLocation(end.root, end.path, () => moveTo(job, end));
    return { destination: end.path.raw };
  };
  return withLocation(from.root, from.path, () => retryChange([from.root, to.root], context.signal, moveOnce));
}

async function moveTo(job: Omit<MoveJob, 'target' | 'checked'>, to: RootPath): Promise<void> {
  const { source, options } = job;
  if (to.path.segments.length === 0) throw new FenceError('is_directory', {});
  using folder = source.at.stats?.isDirectory() ? atEnd(source, ({ dir, name }) => dir.openDir(name)) : undefined;
  if (folder !== undefined) assertDisjoint(folder, prospectiveHostPath(to, { follow: false }));
  // A rename would only replace the link itself, but paths that lead outside are refused everywhere alike.
  refuseOutwardLink(to.root, to.path);
  const { isPrivate = false } = options;
  const onMake = changeIn(to.root, job.context.caller)?.onMake;
  using at = to.root.locate(to.path, { follow: false, makeParents: true, isPrivate, onMake });
  if (folder !== undefined) assertDisjoint(folder, hostPathOf(at));
  using checked = folder && (await checkMove(job, at));
  if (isSameEntry(source.at, at)) throw new FileError('same_file', {});
  if (folder === undefined && options.overwrite !== false) assertReplaceable(at);
  using _held = deferFree(at);
  await renameOrCopy({ ...job, target: { ...to, at }, checked });
  if (options.durable ?? true) {
    // The new name first, and what leads to it, so that there is no moment at which the disk has neither name.
    await syncEntry(at);
    await withLocation(source.root, source.path, () => source.at.dir.sync());
  }
}

/** Raises `not_allowed`, with the path of the source, if the folder holds something that has to stay where it is. */
function checkMove({ source, context }: Omit<MoveJob, 'target' | 'checked'>, to: Location): Promise<CheckedTree> {
  return checkTree(source.at, { from: source, to, pause: yieldPoint(context) });
}

async function renameOrCopy(move: MoveJob): Promise<void> {
  const { source, target } = move;
  // Each root's history is complete in itself, so what leaves a root is kept there, and arrives as something new.
  const hasHistory = historyOf(source.root) !== undefined || historyOf(target.root) !== undefined;
  if (source.root !== target.root && hasHistory) return await moveAcross(move, undefined);
  const isFolder = source.at.stats?.isDirectory() ?? false;
  const entries = isFolder ? [] : [source, target];
  // Without a condition, nothing is lost that would not be replaced anyway.
  const optional = move.expected === undefined && move.options.ifDestination === undefined;
  await using leases = await leaseEntries(entries, { attempt: move.attempt, signal: move.context.signal, optional });
  // Before the move, so that nobody writes by a path that is about to lead elsewhere, and after it, because it may take
  // long.
  const noteMove = async (): Promise<void> => {
    if (isFolder) await leasesOf(source.root)?.noteFolderMove(source.root);
  };
  await noteMove();
  let step: PendingStep | undefined;
  try {
    await leases.confirm();
    using _locks = leases.areComplete ? undefined : await lockFolders(source.at.dir, target.at.dir);
    assertExpected(move);
    const change = changeIn(source.root, move.context.caller);
    step = await leases.change(() => {
      if (change !== undefined) return renameAndKeep(move, change);
      return leases.areComplete && !optional ? renameExpected(move) : rename(move);
    });
    await noteMove();
  } catch (error) {
    if (!(isFenceError(error, 'io_error') && error.details.errno === 'EXDEV')) throw nameFailedEnd(error, move);
    // Nothing has been moved.
    move.attempt.mayHaveLanded = false;
    return await moveAcross(move, leases);
  }
  try {
    await move.checked?.confirm();
  } catch (error) {
    step?.cancel();
    moveBack(move);
    throw error;
  }
}

/**
 * Moves a folder back that may not be where it was moved to. Raises `changed_meanwhile` with the path that it has now
 * if its name is taken by now. If nothing can be put where it was, it stays beside the destination.
 */
function moveBack({ source, target, checked }: MoveJob): void {
  const proof = (dir: Dir, name: string): CheckedTree | undefined => checked?.elsewhere(dir, name);
  let [end, now] = [source, source.path.raw];
  try {
    now = bringBack(source, target.at, proof);
  } catch (error) {
    if (!(error instanceof FenceError)) throw error;
    end = target;
    now = bringBack(target, target.at, proof);
  }
  if (target.at.stats !== undefined) target.at.dir.mkdir(target.at.name, target.at.stats.mode);
  if (now !== source.path.raw) throw new FileError('changed_meanwhile', {}, { path: now, root: end.root.name });
}

function rename({ source, target, options, checked }: MoveJob): undefined {
  if (options.overwrite === false)
    source.at.dir.renameNoReplace(source.at.name, target.at.dir, target.at.name, checked);
  else renameOver(source.at, target.at, checked);
}

/** Moves an entry within a root that has history. Returns the step, or undefined if all that it did was a removal. */
async function renameAndKeep(move: MoveJob, change: Change): Promise<PendingStep | undefined> {
  const { source, target, options } = move;
  const { durable = true } = options;
  const { dir, name } = target.at;
  const there = dir.lstat(name);
  if (options.overwrite === false && there !== undefined) throw new FenceError('already_exists', {});
  // Two names of one file: all that happens is that one of them goes.
  if (isSameFile(source.at.stats, there) && !there?.isDirectory()) {
    await change.remove(source.at, { durable, discard: () => source.at.dir.unlink(source.at.name) });
    return undefined;
  }
  const step = await change.move(source.at, target.at);
  try {
    if (durable) await step.flush();
    rename(move);
    step.done(dir.lstat(name));
    return step;
  } catch (error) {
    step.cancel();
    throw error;
  }
}

/** Adds the source's path to an error if a rename failed because of the source, which the errno does not show. */
function nameFailedEnd(error: unknown, { source, target }: MoveJob): unknown {
  const vanished = isFenceError(error, 'not_found') && source.at.dir.lstat(source.at.name) === undefined;
  const closed = isFenceError(error, 'permission_denied') && canChangeEntries(target.at.dir);
  return vanished || closed ? error.addLocation(source.path.raw, source.root.name) : error;
}

function isSameEntry(a: Location, b: Location): boolean {
  return b.stats !== undefined && a.name === b.name && isSameFile(a.dir.lstat('.'), b.dir.lstat('.'));
}

function renameOver(source: Location, target: Location, checked: CheckedTree | undefined): void {
  source.dir.rename(source.name, target.dir, target.name, checked);
  // POSIX: renaming a hard link over another link to the same file does nothing, and both names remain.
  if (!source.stats?.isDirectory() && isSameFile(source.stats, target.stats)) source.dir.unlink(source.name);
}
