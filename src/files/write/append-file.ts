import type { Stats } from 'node:fs';
import { FenceError, isFenceError, type Location, lockFolder, type OpenFile, type Root } from '../../fence/index.ts';
import { type Change, changeIn } from '../../history/index.ts';
import { DEFAULT_CONTEXT, type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { FileError } from '../errors.ts';
import { journalAppend, mayBeTorn, undoAppendTo } from './append-journal.ts';
import { assertVersion } from './if-match.ts';
import { type ReplaceOptions, replaceFile } from './replace-file.ts';

/** How often an append is tried while other processes create and remove the file. */
const MAX_ATTEMPTS = 20;
const COPY_BYTES = 1024 * 1024;

interface AppendOptions extends Pick<ReplaceOptions, 'lease' | 'onLanded'> {
  readonly durable: boolean;
  readonly expected: string | undefined;
}

/**
 * Appends to a file with one `O_APPEND` write, or creates it atomically, and returns its new stats. An append that is
 * incomplete is undone: at once if the disk is full, or after the process was killed as `journalAppend` says. Both take
 * away only what was appended here, unless another program appends in the same moment. The file stays the same file,
 * for its hard links and for those who have it open, and the cost does not depend on its size; a new file that replaces
 * it would have neither.
 *
 * Under a lease, a file is replaced nevertheless (`appendAsNew`): the write of a process that was stopped, and has lost
 * its lease, could not be kept from being appended later.
 *
 * Raises `disk_full` for an incomplete append, `version_mismatch` if the file is not of the version `expected`, `busy`
 * if another process keeps the folder locked, and what `replaceFile` raises.
 */
export async function appendFile(
  root: Root,
  location: Location,
  bytes: Buffer,
  { durable, expected, lease, onLanded }: AppendOptions,
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<Stats> {
  if (lease !== undefined)
    return appendAsNew(location, bytes, { durable, expected, lease, ...(onLanded && { onLanded }) }, context);
  const change = changeIn(root, context.caller);
  let missing = location.stats === undefined;
  for (let left = MAX_ATTEMPTS; ; left -= 1) {
    try {
      if (missing) {
        const { dir, name, path, syncMade } = location;
        const target = { dir, name, path, stats: undefined, syncMade };
        return await replaceFile(target, bytes, { durable, expected, over: 'nothing', change });
      }
      using file = await appendLocked({ root, location, bytes, expected, durable, change });
      if (durable) await file.sync();
      return file.stat();
    } catch (error) {
      if (left === 1 || !isFenceError(error, missing ? 'already_exists' : 'not_found')) throw error;
      missing = !missing;
    }
  }
}

/** Replaces a file by a copy of it with the bytes at its end, or creates it. */
async function appendAsNew(
  { dir, name, path, syncMade }: Location,
  bytes: Buffer,
  options: AppendOptions,
  context: OperationContext,
): Promise<Stats> {
  const stats = dir.lstat(name);
  using current = stats && dir.openFile(name);
  options.lease?.assertLatest(current?.stats);
  const fill = async (file: OpenFile): Promise<void> => {
    const pause = yieldPoint(context);
    const buffer = Buffer.allocUnsafe(Math.min(COPY_BYTES, (current?.size ?? 0) + 1));
    let copied = 0;
    for (let read = -1; current !== undefined && read !== 0; copied += read) {
      read = current.read(buffer, copied);
      file.writeAll(buffer.subarray(0, read));
      await pause();
    }
    // GlusterFS may have cached the content of a moment at which it was not complete yet.
    if (copied < (current?.size ?? 0)) throw new FileError('changed_meanwhile', {});
    file.writeAll(bytes);
  };
  try {
    const over = current?.stats ?? 'nothing';
    return await replaceFile({ dir, name, path, stats, syncMade }, fill, { ...options, over });
  } catch (error) {
    // It is there, and was not seen.
    if (stats === undefined && isFenceError(error, 'already_exists')) throw new FileError('changed_meanwhile', {});
    throw error;
  }
}

interface AppendJob extends AppendOptions {
  readonly root: Root;
  readonly location: Location;
  readonly bytes: Buffer;
  readonly change: Change | undefined;
}

/**
 * Opens the file and writes while the folder is locked: an edit by another process would otherwise replace the file in
 * between, and the write would go to a file that has no name any more.
 */
async function appendLocked({ root, location, bytes, expected, durable, change }: AppendJob): Promise<OpenFile> {
  const { dir, name, path } = location;
  using _lock = await lockFolder(dir);
  let file = openExpected();
  try {
    if (await undoAppendTo(root, file.stats, { locked: true })) {
      file[Symbol.dispose]();
      file = openExpected();
    }
    if (bytes.length === 0) return file;
    const step = change?.append(path, file);
    try {
      if (durable) await step?.flush();
      appendOnce(root, path, file, bytes);
      step?.done(file.stat());
    } catch (error) {
      step?.cancel();
      throw error;
    }
    return file;
  } catch (error) {
    file[Symbol.dispose]();
    throw error;
  }

  function openExpected(): OpenFile {
    if (expected !== undefined) assertVersion(dir.lstat(name), expected);
    return dir.openForAppend(name);
  }
}

function appendOnce(root: Root, path: string, file: OpenFile, bytes: Buffer): void {
  const { size: before } = file.stats;
  using _journal = mayBeTorn(before, bytes.length) ? journalAppend({ root, path, file, bytes }) : undefined;
  let written = 0;
  try {
    written = file.writeOnce(bytes);
    if (written < bytes.length) throw new FenceError('disk_full', {});
  } catch (error) {
    if (written > 0) file.truncate(before);
    throw error;
  }
}
