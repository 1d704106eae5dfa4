import type { Stats } from 'node:fs';
import {
  type CallerPath,
  FenceError,
  isFenceError,
  type Location,
  lockFolder,
  type OpenFile,
  type Root,
  withLocation,
} from '../../fence/index.ts';
import { DEFAULT_CONTEXT, type OperationContext } from '../../runtime/operation-context.ts';
import { assertVersion, expectedVersion, locateToMatch } from './if-match.ts';
import { type ReplaceTarget, replaceFile, syncEntry } from './replace-file.ts';

/** How `writeFile` treats an existing file. */
export const WRITE_MODES = ['overwrite', 'append', 'create_only'] as const;
/** A mode of `writeFile`. */
export type WriteMode = (typeof WRITE_MODES)[number];

/** Options of `writeFile`. */
export interface WriteOptions {
  /** How an existing file is treated; by default `overwrite`. */
  readonly mode?: WriteMode;
  /** Flush to disk before returning (the default). */
  readonly durable?: boolean;
  /** Create missing parent folders (the default). */
  readonly makeParents?: boolean;
  /** Write only if the file is still this one: a version, `sha256:` and the hash of the content, or `absent`. */
  readonly ifMatch?: string | undefined;
}

/**
 * Writes a file, following links that stay inside the root, and returns its new stats. Overwriting and creating are atomic. An
 * append is one `O_APPEND` write; if it is incomplete, the file is truncated to its former size, which also removes what
 * another program appended meanwhile. Neither loses what another process of this program does to the file at the same time.
 *
 * Raises `is_directory`; with `create_only`, `already_exists` for any existing entry, a dangling link included; `disk_full`
 * for an incomplete append; `version_mismatch`, with nothing changed, if the file is not that of `ifMatch`; and what `replaceFile`
 * and `Root.locate` raise.
 */
export async function writeFile(
  root: Root,
  path: CallerPath,
  bytes: Buffer,
  options: WriteOptions = {},
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<Stats> {
  const { mode = 'overwrite', durable = true, makeParents = true, ifMatch } = options;
  return withLocation(root, path, async () => {
    if (path.segments.length === 0) throw new FenceError('is_directory', {});
    if (mode === 'create_only') assertNoEntry(root, path);
    const follow = mode !== 'create_only';
    using location =
      ifMatch === undefined
        ? root.locate(path, { follow, makeParents })
        : locateToMatch(root, path, ifMatch, { follow, makeParents });
    if (location.stats?.isDirectory()) throw new FenceError('is_directory', {});
    const expected = ifMatch && (await expectedVersion(ifMatch, { root, ...location, context }));
    if (mode === 'append') return await append(location, bytes, { durable, expected });
    return await replaceFile(location, bytes, {
      durable,
      expected,
      over: mode === 'create_only' ? 'nothing' : 'anything',
    });
  });
}

/** Raises `already_exists` if there is an entry at the path, or `outside_root` if it is a link that leads outside. */
export function assertNoEntry(root: Root, path: CallerPath): void {
  try {
    using found = root.locate(path, { follow: false });
    if (found.stats === undefined) return;
    if (found.stats.isSymbolicLink()) root.locate(path, { follow: true })[Symbol.dispose]();
  } catch (error) {
    if (isFenceError(error, 'not_found')) return;
    throw error;
  }
  throw new FenceError('already_exists', {});
}

interface AppendOptions {
  readonly durable: boolean;
  readonly expected: string | undefined;
}

async function append(location: Location, bytes: Buffer, { durable, expected }: AppendOptions): Promise<Stats> {
  using appended = await appendLocked(location, bytes, expected);
  if (durable) {
    await appended.file.sync();
    if (appended.isNew) await syncEntry(location);
  }
  return appended.stats;
}

/**
 * Opens the file and writes while the folder is locked: an edit by another process would otherwise replace the file in between, and
 * the write would go to a file that has no name any more.
 */
async function appendLocked({ dir, name }: Pick<Location, 'dir' | 'name'>, bytes: Buffer, expected?: string) {
  using _lock = await lockFolder(dir);
  const stats = dir.lstat(name);
  if (expected !== undefined) assertVersion(stats, expected);
  const file = dir.openForAppend(name);
  try {
    appendOnce({ dir, name, stats }, file, bytes);
    const isNew = stats === undefined;
    return { file, isNew, stats: file.stat(), [Symbol.dispose]: () => file[Symbol.dispose]() };
  } catch (error) {
    file[Symbol.dispose]();
    throw error;
  }
}

function appendOnce(location: ReplaceTarget, file: OpenFile, bytes: Buffer): void {
  const before = file.stat().size;
  let written = 0;
  try {
    if (bytes.length > 0) written = file.writeOnce(bytes);
    if (written < bytes.length) throw new FenceError('disk_full', {});
  } catch (error) {
    if (location.stats === undefined && before === 0) location.dir.unlink(location.name);
    else if (written > 0) file.truncate(before);
    throw error;
  }
}
