import type { Stats } from 'node:fs';
import {
  appendJournalName,
  FenceError,
  isFenceError,
  type Location,
  lockFolder,
  type OpenFile,
  type Root,
} from '../../fence/index.ts';
import { journalAppend, mayBeTorn, undoAppend } from './append-journal.ts';
import { assertVersion } from './if-match.ts';
import { replaceFile } from './replace-file.ts';

/** How often an append is tried while other processes create and remove the file. */
const MAX_ATTEMPTS = 20;

interface AppendOptions {
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
 * Raises `disk_full` for an incomplete append, `version_mismatch` if the file is not of the version `expected`, `busy`
 * if another process keeps the folder locked, and what `replaceFile` raises.
 */
export async function appendFile(
  root: Root,
  location: Location,
  bytes: Buffer,
  { durable, expected }: AppendOptions,
): Promise<Stats> {
  let missing = location.stats === undefined;
  for (let left = MAX_ATTEMPTS; ; left -= 1) {
    try {
      if (missing) {
        const { dir, name, syncMade } = location;
        const target = { dir, name, stats: undefined, syncMade };
        return await replaceFile(target, bytes, { durable, expected, over: 'nothing' });
      }
      using file = await appendLocked(root, location, bytes, expected);
      if (durable) await file.sync();
      return file.stat();
    } catch (error) {
      if (left === 1 || !isFenceError(error, missing ? 'already_exists' : 'not_found')) throw error;
      missing = !missing;
    }
  }
}

/**
 * Opens the file and writes while the folder is locked: an edit by another process would otherwise replace the file in
 * between, and the write would go to a file that has no name any more.
 */
async function appendLocked(
  root: Root,
  { dir, name, path }: Location,
  bytes: Buffer,
  expected?: string,
): Promise<OpenFile> {
  using _lock = await lockFolder(dir);
  let file = openExpected();
  try {
    const journal = appendJournalName(file.stats.ino);
    if (root.top.has(journal)) {
      await undoAppend(root.top, journal, { locked: true });
      file[Symbol.dispose]();
      file = openExpected();
    }
    if (bytes.length > 0) appendOnce(root, path, file, bytes);
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
