import { isCode, RingfenceError } from '../../errors.ts';
import { type Location, temporaryName } from '../../fence/index.ts';
import { type Control, pacer, UNCONTROLLED } from '../../runtime/operation-context.ts';
import { holdLarge } from '../free-later.ts';
import { mayChange } from '../list/access.ts';
import { located, locatedSync } from '../located.ts';
import { refuseOutwardLink } from '../outward-link.ts';
import { discardTree, removeTree } from '../remove/remove-folder.ts';
import { isSameFile } from '../same-file.ts';
import { assertReplaceable } from '../write/replace-file.ts';
import { placeLink } from '../write/replace-link.ts';
import { type End, intoFolder } from './copy.ts';
import { copyFile } from './copy-file.ts';
import { copyTree } from './copy-tree.ts';
import { assertApart, prospectOf, whereaboutsOf } from './disjoint.ts';
import { fingerprint } from './tree-digest.ts';

export interface MoveOptions {
  readonly durable: boolean;
  /** Replace a file that is in the way; otherwise `already_exists`. */
  readonly overwrite?: boolean;
  /** Move into a destination that is a folder; otherwise the folder is in the way. */
  readonly intoFolders?: boolean;
}

/** One end of a move, and the open folder that it is in. */
interface Found extends End {
  readonly at: Location;
}

interface Move {
  readonly source: Found;
  readonly place: Found;
  readonly options: MoveOptions;
  readonly control: Control;
}

/**
 * Moves a file, a folder, or a link itself. On one filesystem this is one rename, also between roots; across
 * filesystems the copy is put in place whole, checked, and only then the source removed. Errors name the end that
 * they are about.
 */
export async function move(
  from: End,
  to: End,
  options: MoveOptions,
  control: Control,
): Promise<{ destination: string }> {
  return located(from.root, from.path, async () => {
    using at = from.root.locate(from.path, { follow: false });
    if (at.stats === undefined) throw new RingfenceError('not_found', {});
    if (at.name === '.') throw new RingfenceError('root_itself', { action: 'move' });
    const end = options.intoFolders === false ? to : intoFolder(from.path, to);
    await located(end.root, end.path, () => moveTo({ ...from, at }, end, options, control));
    return { destination: end.path.raw };
  });
}

async function moveTo(source: Found, to: End, options: MoveOptions, control: Control): Promise<void> {
  if (to.path.segments.length === 0) throw new RingfenceError('is_directory', {});
  using folder = source.at.stats?.isDirectory() ? about(source, ({ dir, name }) => dir.openDir(name)) : undefined;
  if (folder !== undefined) assertApart(folder, prospectOf(to, { follow: false }));
  // A rename would only replace such a link, but a path that leads outside is refused wherever it stands.
  refuseOutwardLink(to.root, to.path);
  using at = to.root.locate(to.path, { follow: false, makeParents: true });
  if (folder !== undefined) assertApart(folder, whereaboutsOf(at));
  if (isSamePlace(source.at, at)) throw new RingfenceError('same_file', {});
  if (folder === undefined && options.overwrite !== false) assertReplaceable(at);
  using _held = holdLarge(at);
  await put({ source, place: { ...to, at }, options, control });
  if (options.durable) {
    await at.dir.sync();
    await located(source.root, source.path, () => source.at.dir.sync());
  }
}

async function put(move: Move): Promise<void> {
  const { source, place, options } = move;
  try {
    if (options.overwrite === false) source.at.dir.renameNew(source.at.name, place.at.dir, place.at.name);
    else renameOver(source.at, place.at);
  } catch (error) {
    if (!(isCode(error, 'io_error') && error.details.errno === 'EXDEV')) throw blame(error, move);
    await moveAcross(move);
  }
}

/** Names the source where a rename failed for it. The system does not tell which of the two folders it was about. */
function blame(error: unknown, { source, place }: Move): unknown {
  const vanished = isCode(error, 'not_found') && source.at.dir.lstat(source.at.name) === undefined;
  const closed = isCode(error, 'permission_denied') && mayChange(place.at.dir);
  return vanished || closed ? error.locate(source.path.raw, source.root.name) : error;
}

/** Does something with one end, so that its failure is not taken for one of the other. */
function about<T>({ root, path, at }: Found, work: (at: Location) => T): T {
  return locatedSync(root, path, () => work(at));
}

function isSamePlace(a: Location, b: Location): boolean {
  return b.stats !== undefined && a.name === b.name && isSameFile(a.dir.lstat('.'), b.dir.lstat('.'));
}

function renameOver(source: Location, place: Location): void {
  source.dir.rename(source.name, place.dir, place.name);
  // POSIX: renaming one hard link over another of the same file does nothing, and both names stay.
  if (!source.stats?.isDirectory() && isSameFile(source.stats, place.stats)) source.dir.unlink(source.name);
}

/** Copies to the other filesystem, checks, then removes the source. Fails before removing anything. */
async function moveAcross(move: Move): Promise<void> {
  const { source, place, options } = move;
  const { stats } = source.at;
  if (stats?.isFile()) await moveFileAcross(move);
  else if (stats?.isDirectory()) await moveFolderAcross(move);
  else if (stats?.isSymbolicLink()) {
    const target = about(source, ({ dir, name }) => dir.readlinkExactly(name));
    placeLink(place.at, target, options);
    about(source, ({ dir, name }) => dir.unlink(name));
  } else throw failed('special_file', source);
}

async function moveFileAcross({ source, place, options, control }: Move): Promise<void> {
  using _held = holdLarge(source.at);
  using file = about(source, ({ dir, name }) => dir.openFile(name));
  const bytes = await copyFile({ ...source, file }, place.at, { ...options, asMoved: true }, control);
  try {
    about(source, ({ dir, name }) => {
      const now = dir.lstat(name);
      if (!isSameFile(file.stats, now) || bytes !== now?.size || now.mtimeMs !== file.stats.mtimeMs) {
        throw new RingfenceError('changed_meanwhile', {});
      }
      dir.unlink(name);
    });
  } catch (error) {
    // The file is still where it was, so a copy in a place that was empty is one too many.
    if (place.at.stats === undefined) place.at.dir.unlink(place.at.name);
    throw error;
  }
}

async function moveFolderAcross({ source, place, options, control }: Move): Promise<void> {
  const { dir, name } = place.at;
  const temporary = temporaryName();
  dir.mkdir(temporary, 0o700);
  try {
    using original = about(source, (at) => at.dir.openDir(at.name));
    using fresh = dir.openDir(temporary);
    const tree = { root: source.root, path: source.path, dir: original };
    const before = await fingerprint(tree, control);
    const kept = { options: { ...options, asMoved: true }, linksAsTheyAre: true };
    await copyTree({ ...kept, source: tree, control, pause: pacer(control) }, fresh);
    const copied = await fingerprint({ root: place.root, path: place.path, dir: fresh }, control);
    const after = await fingerprint(tree, control);
    if (copied.content !== before.content || after.identity !== before.identity) {
      throw failed('changed_meanwhile', source);
    }
    if (options.overwrite === false) dir.renameNew(temporary, dir, name);
    else dir.rename(temporary, dir, name);
  } catch (error) {
    await discardTree(dir, temporary);
    throw error;
  }
  // All of it is in its new place, so stopping half-way would only leave a broken copy behind.
  const progress = (done: number): void => control.progress(done);
  const unstoppable: Control = { signal: UNCONTROLLED.signal, pace: control.pace, progress };
  await located(source.root, source.path, () => removeTree(source.at, {}, unstoppable));
}

function failed(code: 'special_file' | 'changed_meanwhile', { root, path }: End): RingfenceError {
  return new RingfenceError(code, {}, { path: path.raw, root: root.name });
}
