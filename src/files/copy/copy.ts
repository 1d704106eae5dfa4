import type { Stats } from 'node:fs';
import path from 'node:path';
import {
  type CallerPath,
  FenceError,
  isFenceError,
  type Location,
  type RootPath,
  temporaryName,
  withLocation,
} from '../../fence/index.ts';
import { type Change, changeIn } from '../../history/index.ts';
import { DEFAULT_CONTEXT, type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { awaitLatest } from '../lease/await-latest.ts';
import { type ChangeAttempt, retryChange } from '../lease/retry-change.ts';
import { refreshed } from '../lease/see-latest.ts';
import { withLease } from '../lease/with-lease.ts';
import { discardTree } from '../remove/remove-folder.ts';
import { undoAppendTo } from '../write/append-journal.ts';
import { ABSENT, assertVersion, expectedVersion, locateToMatch, mismatch } from '../write/if-match.ts';
import { isSameFile, syncEntry } from '../write/replace-file.ts';
import { attemptStep } from './attempt-step.ts';
import { copyFile } from './copy-file.ts';
import { type CopyTreeResult, copyTree, type OpenTree } from './copy-tree.ts';
import { assertDisjoint, hostPathOf, prospectiveHostPath } from './host-paths.ts';
import { openLatest } from './open-latest.ts';

/** Options of `copy`. */
export interface CopyOptions {
  /** Flush to disk before returning (the default). */
  readonly durable?: boolean;
  /** Replace existing files (the default); otherwise an existing destination is `already_exists`. */
  readonly overwrite?: boolean;
  /** Copy folders too (the default); otherwise a folder is `is_directory`. */
  readonly recursive?: boolean;
  /**
   * Copy into a destination that is a folder (the default); otherwise a folder merges with it, and a file is refused.
   */
  readonly intoFolders?: boolean;
  /**
   * Copy only if the destination is still this file: a version, `sha256:` and the hash of the content, or `absent`. A
   * folder can only be copied to a destination that is `absent`. The destination is the path as it is given, never one
   * inside it.
   */
  readonly ifMatch?: string | undefined;
}

/** What `copy` did. */
export interface CopyResult {
  /** The path of the copy, which is inside the destination if that is a folder. */
  readonly destination: string;
  readonly isDirectory: boolean;
  /** The number of bytes of file content copied. */
  readonly bytes: number;
  /** What was not copied (special files, dangling links, links that lead outside), relative to the source folder. */
  readonly skipped: readonly string[];
}

/**
 * Copies a file, or a folder with everything in it, also between roots. Each file is written atomically, with its
 * permission bits; a new folder appears only when it is complete. Merging with an existing folder is not atomic. With
 * `durable`, a file is flushed before it appears, and a new folder with everything in it.
 *
 * Raises `not_found`, `is_directory`, `already_exists`, `not_directory`, `same_file` and `into_itself` if source and
 * destination overlap, `version_mismatch` if the destination is not that of `ifMatch`, what `copyFile` raises, and the
 * reason of an aborted signal. Errors carry the path they are about.
 */
export async function copy(
  from: RootPath,
  to: RootPath,
  options: CopyOptions = {},
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<CopyResult> {
  return withLocation(from.root, from.path, async () => {
    await awaitLatest(from.root, from.path, context);
    const roots = [from.root, to.root];
    using source = await retryChange(roots, context.signal, async () => locateSource(from));
    const end = options.intoFolders === false || options.ifMatch !== undefined ? to : resolveInto(from.path, to);
    if (!source.stats.isDirectory()) {
      await undoAppendTo(from.root, source.stats);
      const bytes = await copyFileTo({ ...from, at: source }, end, options, context);
      return { destination: end.path.raw, isDirectory: false, bytes, skipped: [] };
    }
    if (options.recursive === false) throw new FenceError('is_directory', {});
    if (options.ifMatch !== undefined && options.ifMatch !== ABSENT) throw new FenceError('is_directory', {});
    const copied = await retryChange(roots, context.signal, async (attempt) => {
      // Located again, because another machine may have replaced it since.
      using found = locateSource(from);
      using tree = found.dir.openDir(found.name);
      return await copyFolderTo({ ...from, dir: tree }, end, { ...options, attempt }, context);
    });
    return { destination: end.path.raw, isDirectory: true, ...copied };
  });
}

function locateSource({ root, path }: RootPath): Location & { readonly stats: Stats } {
  const found = root.locate(path, { follow: true });
  const { stats } = found;
  if (stats !== undefined) return { ...found, stats };
  found[Symbol.dispose]();
  throw new FenceError('not_found', {});
}

/**
 * Returns the destination or, if that is a folder, the path inside it with the last name of the source, as cp(1) does.
 */
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
    // The operation itself decides about such a path: a move replaces a link, a copy follows it.
    if (isFenceError(error, 'not_found', 'not_directory', 'link_loop')) return false;
    throw error;
  }
}

async function copyFileTo(
  source: RootPath & { readonly at: Location },
  to: RootPath,
  options: CopyOptions,
  context: OperationContext,
): Promise<number> {
  return withLocation(to.root, to.path, async () => {
    const { ifMatch, ...copying } = options;
    const change = changeIn(to.root, context.caller);
    const resolve = { follow: true, makeParents: true, onMake: change?.onMake };
    const locate = () =>
      ifMatch === undefined ? to.root.locate(to.path, resolve) : locateToMatch(to.root, to.path, ifMatch, resolve);
    const leased = { root: to.root, names: to.path.segments, locate };
    const optional = ifMatch === undefined || ifMatch === ABSENT;
    return await withLease(leased, { signal: context.signal, optional }, async ({ lease, onLanded }) => {
      // Each attempt opens it again, because another machine may have replaced it since.
      using file = await openLatest({ ...source, ...source.at, path: source.path, signal: context.signal });
      const opened = { ...source, file };
      const replacing = { ...copying, change, lease, onLanded };
      using location = locate();
      if (ifMatch === undefined) return await copyFile(opened, location, replacing, context);
      if (replacing.overwrite === false && location.stats !== undefined) throw new FenceError('already_exists', {});
      const expected = await expectedVersion(ifMatch, { root: to.root, ...location, context });
      return await copyFile(opened, location, { ...replacing, expected }, context);
    });
  });
}

interface FolderOptions extends CopyOptions {
  /** Hears when the copy begins to show: what has been copied under a hidden name may be copied again. */
  readonly attempt: ChangeAttempt;
}

async function copyFolderTo(
  from: OpenTree,
  to: RootPath,
  { attempt, ...options }: FolderOptions,
  context: OperationContext,
): Promise<CopyTreeResult> {
  return withLocation(to.root, to.path, async () => {
    assertDisjoint(from.dir, prospectiveHostPath(to, { follow: true }));
    const change = changeIn(to.root, context.caller);
    using location = to.root.locate(to.path, { follow: true, makeParents: true, onMake: change?.onMake });
    assertDisjoint(from.dir, hostPathOf(location));
    const job = { source: from, options, context, pause: yieldPoint(context) };
    if (location.stats !== undefined) {
      if (options.ifMatch !== undefined) assertVersion(location.stats, options.ifMatch);
      if (options.overwrite === false) throw new FenceError('already_exists', {});
      if (!location.stats.isDirectory()) throw new FenceError('not_directory', {});
      using existing = location.dir.openDir(location.name);
      attempt.onLanded();
      return await copyTree({ ...job, merge: { root: to.root, path: location.path, change } }, existing);
    }
    location.dir.assertMayPut(location.name, true);
    const temporary = temporaryName(location.dir);
    location.dir.mkdir(temporary, 0o700);
    try {
      using fresh = location.dir.openDir(temporary, location.name);
      using _inUse = fresh.markInUse();
      const copied = await copyTree(job, fresh);
      await renameFresh(location, temporary, { ...options, attempt, change });
      if (options.durable ?? true) await syncEntry(location);
      return copied;
    } catch (error) {
      await discardTree(location.dir, temporary);
      throw error;
    }
  });
}

async function renameFresh(
  location: Location,
  temporary: string,
  { ifMatch, durable = true, attempt, change }: FolderOptions & { readonly change: Change | undefined },
): Promise<void> {
  const { dir, name } = location;
  const fresh = dir.lstat(temporary) as Stats;
  const step = await change?.put(location, fresh);
  try {
    if (durable) await step?.flush();
    const isNamed = () => isSameFile(fresh, refreshed(location));
    await attemptStep(attempt, { dir, isDone: isNamed }, () => dir.renameNoReplace(temporary, dir, name));
    step?.done(dir.lstat(name));
  } catch (error) {
    step?.cancel();
    if (ifMatch === undefined || !isFenceError(error, 'already_exists')) throw error;
    throw mismatch(ifMatch, dir.lstat(name));
  }
}
