import {
  FenceError,
  isFenceError,
  type Location,
  lockFolder,
  lockFolders,
  type RootPath,
  temporaryName,
  withLocation,
  withLocationSync,
} from '../../fence/index.ts';
import { DEFAULT_CONTEXT, type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { deferFree } from '../deferred-free.ts';
import { FileError } from '../errors.ts';
import { refuseOutwardLink } from '../links.ts';
import { canChangeEntries } from '../list/access.ts';
import { discardTree, removeTree } from '../remove/remove-folder.ts';
import { assertVersion, expectedVersion } from '../write/if-match.ts';
import { assertReplaceable, isSameFile } from '../write/replace-file.ts';
import { replaceLink } from '../write/replace-link.ts';
import { resolveInto } from './copy.ts';
import { copyFile } from './copy-file.ts';
import { copyTree } from './copy-tree.ts';
import { assertDisjoint, hostPathOf, prospectiveHostPath } from './host-paths.ts';
import { treeDigest } from './tree-digest.ts';

/** Options of `move`. */
export interface MoveOptions {
  /** Flush to disk before returning (the default). */
  readonly durable?: boolean;
  /** Replace an existing file (the default); otherwise it is `already_exists`. */
  readonly overwrite?: boolean;
  /** Move into a destination that is a folder (the default); otherwise the folder counts as existing. */
  readonly intoFolders?: boolean;
  /** Move only if the source is still this entry: a version, or `sha256:` and the hash of the content. For a link, its own version. */
  readonly ifMatch?: string | undefined;
}

/** The source or destination of a move, with the open folder that contains it. */
interface MoveEnd extends RootPath {
  readonly at: Location;
}

interface MoveJob {
  readonly source: MoveEnd;
  readonly target: MoveEnd;
  readonly options: MoveOptions;
  /** The version that the source must have, from `ifMatch`. */
  readonly expected: string | undefined;
  readonly context: OperationContext;
}

/**
 * Moves a file, a folder, or a link itself, also between roots. On one filesystem this is one rename(2). Across filesystems the
 * source is copied, the copy is verified and appears complete, and only then the source is removed.
 *
 * Raises `not_found`, `root_itself`, `is_directory`, `already_exists`, `same_file`, `into_itself`, `special_file` across
 * filesystems, `version_mismatch` if the source is not that of `ifMatch`, `changed_meanwhile` if it changes during the copy, `busy`
 * if another process keeps a folder locked, and the reason of an aborted signal. A failure leaves the source complete or, if it
 * happens while the source is removed, the copy. Errors carry the path they are about.
 */
export async function move(
  from: RootPath,
  to: RootPath,
  options: MoveOptions = {},
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<{ destination: string }> {
  return withLocation(from.root, from.path, async () => {
    using at = from.root.locate(from.path, { follow: false });
    if (at.stats === undefined) throw new FenceError('not_found', {});
    if (at.name === '.') throw new FileError('root_itself', { action: 'move' });
    const end = options.intoFolders === false ? to : resolveInto(from.path, to);
    const expected = options.ifMatch && (await expectedVersion(options.ifMatch, { root: from.root, ...at, context }));
    await withLocation(end.root, end.path, () => moveTo({ source: { ...from, at }, options, expected, context }, end));
    return { destination: end.path.raw };
  });
}

async function moveTo(job: Omit<MoveJob, 'target'>, to: RootPath): Promise<void> {
  const { source, options } = job;
  if (to.path.segments.length === 0) throw new FenceError('is_directory', {});
  using folder = source.at.stats?.isDirectory() ? atEnd(source, ({ dir, name }) => dir.openDir(name)) : undefined;
  if (folder !== undefined) assertDisjoint(folder, prospectiveHostPath(to, { follow: false }));
  // A rename would only replace the link itself, but paths that lead outside are refused everywhere alike.
  refuseOutwardLink(to.root, to.path);
  using at = to.root.locate(to.path, { follow: false, makeParents: true });
  if (folder !== undefined) assertDisjoint(folder, hostPathOf(at));
  if (isSameEntry(source.at, at)) throw new FileError('same_file', {});
  if (folder === undefined && options.overwrite !== false) assertReplaceable(at);
  using _held = deferFree(at);
  await renameOrCopy({ ...job, target: { ...to, at } });
  if (options.durable ?? true) {
    await at.dir.sync();
    await withLocation(source.root, source.path, () => source.at.dir.sync());
  }
}

async function renameOrCopy(move: MoveJob): Promise<void> {
  const { source, target, options } = move;
  try {
    using _locks = await lockFolders(source.at.dir, target.at.dir);
    assertExpected(move);
    if (options.overwrite === false) source.at.dir.renameNoReplace(source.at.name, target.at.dir, target.at.name);
    else renameOver(source.at, target.at);
  } catch (error) {
    if (!(isFenceError(error, 'io_error') && error.details.errno === 'EXDEV')) throw nameFailedEnd(error, move);
    await moveAcross(move);
  }
}

/** Raises `version_mismatch` if the source is not the expected one. */
function assertExpected({ source, expected }: MoveJob): void {
  if (expected !== undefined) atEnd(source, ({ dir, name }) => assertVersion(dir.lstat(name), expected));
}

/** Adds the source's path to an error if a rename failed because of the source, which the errno does not show. */
function nameFailedEnd(error: unknown, { source, target }: MoveJob): unknown {
  const vanished = isFenceError(error, 'not_found') && source.at.dir.lstat(source.at.name) === undefined;
  const closed = isFenceError(error, 'permission_denied') && canChangeEntries(target.at.dir);
  return vanished || closed ? error.locate(source.path.raw, source.root.name) : error;
}

/** Runs an operation on one end of the move, so that its errors carry the path of that end. */
function atEnd<T>({ root, path, at }: MoveEnd, work: (at: Location) => T): T {
  return withLocationSync(root, path, () => work(at));
}

function isSameEntry(a: Location, b: Location): boolean {
  return b.stats !== undefined && a.name === b.name && isSameFile(a.dir.lstat('.'), b.dir.lstat('.'));
}

function renameOver(source: Location, target: Location): void {
  source.dir.rename(source.name, target.dir, target.name);
  // POSIX: renaming a hard link over another link to the same file does nothing, and both names remain.
  if (!source.stats?.isDirectory() && isSameFile(source.stats, target.stats)) source.dir.unlink(source.name);
}

/** Copies to the other filesystem, verifies the copy, then removes the source. */
async function moveAcross(move: MoveJob): Promise<void> {
  const { source, target, options } = move;
  const { stats } = source.at;
  if (stats?.isFile()) await moveFileAcross(move);
  else if (stats?.isDirectory()) await moveFolderAcross(move);
  else if (stats?.isSymbolicLink()) {
    using _locks = await lockFolders(source.at.dir, target.at.dir);
    assertExpected(move);
    const link = atEnd(source, ({ dir, name }) => dir.readlinkBytes(name));
    replaceLink(target.at, link, options);
    atEnd(source, ({ dir, name }) => dir.unlink(name));
  } else throw new FenceError('special_file', {}, where(source));
}

async function moveFileAcross({ source, target, options, expected, context }: MoveJob): Promise<void> {
  using _held = deferFree(source.at);
  using file = atEnd(source, ({ dir, name }) => dir.openFile(name));
  // What is copied is this open file, and before it was opened the name may have come to stand for another.
  if (expected !== undefined) atEnd(source, () => assertVersion(file.stats, expected));
  const { durable = true, overwrite = true } = options;
  const bytes = await copyFile({ ...source, file }, target.at, { durable, overwrite, asMoved: true }, context);
  try {
    using _lock = await lockFolder(source.at.dir);
    atEnd(source, ({ dir, name }) => {
      const now = dir.lstat(name);
      const { mtimeMs, ctimeMs } = file.stats;
      const unchanged = bytes === now?.size && now.mtimeMs === mtimeMs && now.ctimeMs === ctimeMs;
      if (!unchanged || !isSameFile(file.stats, now)) throw new FileError('changed_meanwhile', {});
      dir.unlink(name);
    });
  } catch (error) {
    // The source remains, so a copy that replaced nothing is removed again.
    if (target.at.stats === undefined) target.at.dir.unlink(target.at.name);
    throw error;
  }
}

async function moveFolderAcross(move: MoveJob): Promise<void> {
  const { source, target, options, context } = move;
  const { dir, name } = target.at;
  const temporary = temporaryName();
  dir.mkdir(temporary, 0o700);
  let removal: Promise<unknown>;
  try {
    using original = atEnd(source, (at) => at.dir.openDir(at.name));
    using fresh = dir.openDir(temporary);
    const tree = { root: source.root, path: source.path, dir: original };
    const before = await treeDigest(tree, context);
    const { durable = true, overwrite = true } = options;
    const kept = { options: { durable, overwrite, asMoved: true }, linksAsTheyAre: true };
    await copyTree({ ...kept, source: tree, context, pause: yieldPoint(context) }, fresh);
    const copied = await treeDigest({ root: target.root, path: target.path, dir: fresh }, context);
    const after = await treeDigest(tree, context);
    if (copied.content !== before.content || after.identity !== before.identity) {
      throw new FileError('changed_meanwhile', {}, where(source));
    }
    using _locks = await lockFolders(source.at.dir, dir);
    assertExpected(move);
    const now = atEnd(source, (at) => at.dir.lstat(at.name));
    if (!isSameFile(original.lstat('.'), now)) throw new FileError('changed_meanwhile', {}, where(source));
    if (options.overwrite === false) dir.renameNoReplace(temporary, dir, name);
    else dir.rename(temporary, dir, name);
    // Not awaited here: it opens the folder at once, while its name is locked, and empties it without keeping others waiting.
    removal = removeMoved(move);
  } catch (error) {
    await discardTree(dir, temporary);
    throw error;
  }
  await removal;
}

/** Removes the source folder. The destination is complete, so an abort would only leave half of the source behind. */
function removeMoved({ source, context }: MoveJob): Promise<unknown> {
  const progress = (done: number): void => context.progress?.(done);
  const unstoppable: OperationContext = { signal: DEFAULT_CONTEXT.signal, scheduler: context.scheduler, progress };
  return withLocation(source.root, source.path, () => removeTree(source.at, {}, unstoppable));
}

function where({ root, path }: RootPath): { path: string; root: string } {
  return { path: path.raw, root: root.name };
}
