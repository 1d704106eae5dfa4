import path from 'node:path';
import {
  type CallerPath,
  FenceError,
  isFenceError,
  type RootPath,
  temporaryName,
  withLocation,
} from '../../fence/index.ts';
import { DEFAULT_CONTEXT, type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { discardTree } from '../remove/remove-folder.ts';
import { copyFile, type FileSource } from './copy-file.ts';
import { type CopyTreeResult, copyTree, type OpenTree } from './copy-tree.ts';
import { assertDisjoint, hostPathOf, prospectiveHostPath } from './host-paths.ts';

export interface CopyOptions {
  /** Wait until the disk has it, which is the default. */
  readonly durable?: boolean;
  /** Replace files that are in the way; otherwise `already_exists`. */
  readonly overwrite?: boolean;
  /** Copy folders at all; otherwise `is_directory`. */
  readonly recursive?: boolean;
  /** Copy into a destination that is a folder; otherwise a folder is merged with it and a file cannot replace it. */
  readonly intoFolders?: boolean;
}

export interface CopyResult {
  /** Where the copy is: inside the destination if that is a folder. */
  readonly destination: string;
  readonly isDirectory: boolean;
  readonly bytes: number;
  /** Links that lead outside and special files, which are not copied, relative to the source folder. */
  readonly skipped: readonly string[];
}

/**
 * Copies a file, or a folder with all in it. Files land whole, with their mode; a folder that is new appears whole.
 * An existing destination folder is copied into; one of the same name in there is merged with.
 * Raises `same_file` and `into_itself` where source and destination overlap.
 */
export async function copy(
  from: RootPath,
  to: RootPath,
  options: CopyOptions = {},
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<CopyResult> {
  return withLocation(from.root, from.path, async () => {
    using source = from.root.locate(from.path, { follow: true });
    if (source.stats === undefined) throw new FenceError('not_found', {});
    const end = options.intoFolders === false ? to : resolveInto(from.path, to);
    if (!source.stats.isDirectory()) {
      using file = source.dir.openFile(source.name);
      const bytes = await copyFileTo({ ...from, file }, end, options, context);
      return { destination: end.path.raw, isDirectory: false, bytes, skipped: [] };
    }
    if (options.recursive === false) throw new FenceError('is_directory', {});
    using tree = source.dir.openDir(source.name);
    const { bytes, skipped } = await copyFolderTo({ ...from, dir: tree }, end, options, context);
    return { destination: end.path.raw, isDirectory: true, bytes, skipped };
  });
}

/** The destination itself, or the place inside it under the source's name if it is a folder. */
export function resolveInto(source: CallerPath, to: RootPath): RootPath {
  const name = source.segments.at(-1);
  if (!isFolder(to) || name === undefined) return to;
  const raw = path.posix.join(to.path.raw, name);
  return { root: to.root, path: { raw, segments: [...to.path.segments, name] } };
}

function isFolder({ root, path }: RootPath): boolean {
  try {
    using found = root.locate(path, { follow: true });
    return found.stats?.isDirectory() ?? false;
  } catch (error) {
    // Whatever else is wrong there is for the operation itself to meet: a move replaces a link, a copy follows it.
    if (isFenceError(error, 'not_found', 'not_directory', 'link_loop')) return false;
    throw error;
  }
}

async function copyFileTo(
  source: FileSource,
  to: RootPath,
  options: CopyOptions,
  context: OperationContext,
): Promise<number> {
  return withLocation(to.root, to.path, async () => {
    using place = to.root.locate(to.path, { follow: true, makeParents: true });
    return await copyFile(source, place, options, context);
  });
}

async function copyFolderTo(
  from: OpenTree,
  to: RootPath,
  options: CopyOptions,
  context: OperationContext,
): Promise<CopyTreeResult> {
  return withLocation(to.root, to.path, async () => {
    assertDisjoint(from.dir, prospectiveHostPath(to, { follow: true }));
    using place = to.root.locate(to.path, { follow: true, makeParents: true });
    assertDisjoint(from.dir, hostPathOf(place));
    // Flushing every file of a tree would take minutes; whoever needs it on disk flushes once, by the folder's name.
    const job = { source: from, options: { ...options, durable: false }, context, pause: yieldPoint(context) };
    if (place.stats !== undefined) {
      if (options.overwrite === false) throw new FenceError('already_exists', {});
      if (!place.stats.isDirectory()) throw new FenceError('not_directory', {});
      using existing = place.dir.openDir(place.name);
      return await copyTree({ ...job, merge: true }, existing);
    }
    const temporary = temporaryName();
    place.dir.mkdir(temporary, 0o700);
    try {
      using fresh = place.dir.openDir(temporary);
      const copied = await copyTree(job, fresh);
      place.dir.renameNoReplace(temporary, place.dir, place.name);
      if (options.durable ?? true) await place.dir.sync();
      return copied;
    } catch (error) {
      await discardTree(place.dir, temporary);
      throw error;
    }
  });
}
