import { isCode, RingfenceError } from '../errors.ts';
import { type Location, temporaryName } from '../fence/index.ts';
import { type Control, pacer, UNCONTROLLED } from './control.ts';
import { assertApart, type End, intoFolder } from './copy.ts';
import { copyFile } from './copy-file.ts';
import { copyTree } from './copy-tree.ts';
import { fingerprint } from './fingerprint.ts';
import { located } from './located.ts';
import { refuseOutwardLink } from './refuse-outward-link.ts';
import { discardTree, removeTree } from './remove-folder.ts';
import { assertReplaceable } from './replace-file.ts';

export interface MoveOptions {
  readonly durable: boolean;
  /** Replace a file that is in the way; otherwise `already_exists`. */
  readonly overwrite?: boolean;
  /** Move into a destination that is a folder; otherwise the folder is in the way. */
  readonly intoFolders?: boolean;
}

/**
 * Moves a file, a folder, or a link itself. On one filesystem this is one rename, also between roots; across
 * filesystems the copy is put in place whole, checked, and only then the source removed.
 */
export async function move(
  from: End,
  to: End,
  options: MoveOptions,
  control: Control,
): Promise<{ destination: string }> {
  return located(from.root, from.path, async () => {
    using source = from.root.locate(from.path, { follow: false });
    if (source.stats === undefined) throw new RingfenceError('not_found', {});
    if (source.name === '.') throw new RingfenceError('root_itself', { action: 'move' });
    const end = options.intoFolders === false ? to : intoFolder(from.path, to);
    await located(end.root, end.path, () => moveTo(from, source, end, options, control));
    return { destination: end.path.raw };
  });
}

async function moveTo(from: End, source: Location, to: End, options: MoveOptions, control: Control): Promise<void> {
  if (to.path.segments.length === 0) throw new RingfenceError('is_directory', {});
  if (source.stats?.isDirectory()) {
    using dir = source.dir.openDir(source.name);
    assertApart({ dir }, to);
  }
  // A rename would only replace such a link, but a path that leads outside is refused wherever it stands.
  refuseOutwardLink(to.root, to.path);
  using place = to.root.locate(to.path, { follow: false, makeParents: true });
  if (isSamePlace(source, place)) throw new RingfenceError('same_file', {});
  const { overwrite = true, durable } = options;
  if (overwrite && !source.stats?.isDirectory()) assertReplaceable(place);
  try {
    if (!overwrite) source.dir.renameNew(source.name, place.dir, place.name);
    else renameOver(source, place);
  } catch (error) {
    if (!(isCode(error, 'io_error') && error.details.errno === 'EXDEV')) throw error;
    await moveAcross(from, source, place, options, control);
  }
  if (durable) {
    await place.dir.sync();
    await source.dir.sync();
  }
}

function isSamePlace(a: Location, b: Location): boolean {
  return b.stats !== undefined && a.name === b.name && isSameFile(a.dir.lstat('.'), b.dir.lstat('.'));
}

function renameOver(source: Location, place: Location): void {
  source.dir.rename(source.name, place.dir, place.name);
  // POSIX: renaming one hard link over another of the same file does nothing, and both names stay.
  if (!source.stats?.isDirectory() && isSameFile(source.stats, place.stats)) source.dir.unlink(source.name);
}

function isSameFile(a: Location['stats'], b: Location['stats']): boolean {
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

/** Copies to the other filesystem, checks, then removes the source. Fails before removing anything. */
async function moveAcross(from: End, source: Location, place: Location, options: MoveOptions, control: Control) {
  if (source.stats?.isFile()) {
    using file = source.dir.openFile(source.name);
    const bytes = await copyFile(file, place, { ...options, asMoved: true }, control);
    const now = source.dir.lstat(source.name);
    if (!isSameFile(file.stats, now) || bytes !== now?.size || now.mtimeMs !== file.stats.mtimeMs) {
      throw new RingfenceError('changed_meanwhile', {});
    }
    source.dir.unlink(source.name);
  } else if (source.stats?.isSymbolicLink()) {
    moveLinkAcross(source, place, options);
  } else if (source.stats?.isDirectory()) {
    await moveFolderAcross(from, source, place, options, control);
  } else {
    throw new RingfenceError('special_file', {});
  }
}

function moveLinkAcross(source: Location, place: Location, options: MoveOptions): void {
  const temporary = temporaryName();
  place.dir.symlink(source.dir.readlinkExactly(source.name), temporary);
  try {
    finish(place, temporary, options);
  } catch (error) {
    place.dir.unlink(temporary);
    throw error;
  }
  source.dir.unlink(source.name);
}

async function moveFolderAcross(from: End, source: Location, place: Location, options: MoveOptions, control: Control) {
  const temporary = temporaryName();
  place.dir.mkdir(temporary, 0o700);
  try {
    using dir = source.dir.openDir(source.name);
    using fresh = place.dir.openDir(temporary);
    const before = await fingerprint(dir, control);
    const job = { source: { ...from, dir }, options: { ...options, asMoved: true }, linksAsTheyAre: true, control };
    await copyTree({ ...job, pause: pacer(control) }, fresh);
    const [copied, after] = [await fingerprint(fresh, control), await fingerprint(dir, control)];
    if (copied.content !== before.content || after.identity !== before.identity) {
      throw new RingfenceError('changed_meanwhile', {});
    }
    finish(place, temporary, options);
  } catch (error) {
    await discardTree(place.dir, temporary);
    throw error;
  }
  await removeTree(source.dir, source.name, { ...control, signal: UNCONTROLLED.signal });
}

function finish({ dir, name }: Location, temporary: string, { overwrite = true }: MoveOptions): void {
  if (overwrite) dir.rename(temporary, dir, name);
  else dir.renameNew(temporary, dir, name);
}
