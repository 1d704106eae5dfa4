import type { Stats } from 'node:fs';
import {
  appendJournalName,
  type Dir,
  type FenceErrorCode,
  isAppendJournalName,
  isFenceError,
  isLeftover,
  lockFolder,
  type Name,
  type OpenFile,
  type Root,
  temporaryName,
} from '../../fence/index.ts';

/**
 * The kernel looks for a fatal signal before each page that it copies, so only a write within one page cannot be cut
 * short.
 */
const PAGE_BYTES = 4096;
const CHUNK_BYTES = 1024 * 1024;
const LINE_END = 0x0a;

const NOT_A_FILE = ['link_loop', 'is_directory', 'special_file'] as const;

/** What the journal says of an append, in a line of JSON before the bytes themselves. */
interface AppendRecord {
  /** A temporary name of the process that appends. */
  readonly owner: string;
  /** The file, from the folder of the journal down, without links. */
  readonly path: string;
  readonly ino: number;
  /** The size of the file before the append. */
  readonly before: number;
  /** The number of bytes to append. */
  readonly length: number;
}

/** An append to an open file of a root. */
export interface JournaledAppend {
  readonly root: Root;
  /** The file, from the root down, without links. */
  readonly path: string;
  readonly file: OpenFile;
  readonly bytes: Uint8Array;
}

/** Reports whether a write may be cut short if its process is killed. */
export function mayBeTorn(at: number, length: number): boolean {
  return (at % PAGE_BYTES) + length > PAGE_BYTES;
}

/**
 * Notes an append before it is made, in a hidden file at the top of the root: what is appended, where, and by whom. If
 * the process is killed meanwhile, the next start, or the next append to the file, edit, copy or move of it, undoes
 * what was written of it (`undoAppend`). Dispose of the result after the append. Undefined if nothing could be noted: this
 * process may not create files there, or another is appending to the same file by a hard link in another folder. Raises
 * `disk_full`.
 */
export function journalAppend({ root, path, file, bytes }: JournaledAppend): Disposable | undefined {
  const { top } = root;
  const { ino, size: before } = file.stats;
  const temporary = temporaryName(top);
  const name = appendJournalName(ino);
  let journal: OpenFile;
  try {
    journal = top.createInUse(temporary, 0o600);
  } catch (error) {
    if (isFenceError(error, 'permission_denied', 'read_only')) return undefined;
    throw error;
  }
  try {
    const record: AppendRecord = { owner: temporary, path, ino, before, length: bytes.byteLength };
    journal.writeAll(Buffer.from(`${JSON.stringify(record)}\n`));
    journal.writeAll(bytes);
    top.renameNoReplace(temporary, top, name);
  } catch (error) {
    journal[Symbol.dispose]();
    top.unlink(temporary);
    if (isFenceError(error, 'already_exists')) return undefined;
    throw error;
  }
  return {
    [Symbol.dispose]() {
      // First the name: a journal without the mark of its process could be taken for one that was left behind.
      top.unlink(name);
      journal[Symbol.dispose]();
    },
  };
}

/**
 * Undoes the appends that killed processes did not finish, as far as they are noted at the top of a root. Returns their
 * number.
 */
export async function undoAppends(root: Root): Promise<number> {
  let undone = 0;
  for (const { name, raw } of root.top.list(true)) {
    if (isAppendJournalName(name) && (await undoAppend(root.top, raw))) undone += 1;
  }
  return undone;
}

/** Undoes what a killed process has left of an append to a file, and reports whether there was anything. */
export async function undoAppendTo(root: Root, { ino }: Pick<Stats, 'ino'>, { locked = false } = {}): Promise<boolean> {
  const name = appendJournalName(ino);
  return root.top.has(name) && (await undoAppend(root.top, name, { locked }));
}

/**
 * Undoes an append whose process is gone, and removes its journal. Reports whether there was one. The file is cut to
 * its former size if all that follows is the beginning of what was to be appended. If another program has appended to
 * it since, or it was replaced, it stays as it is. A process that is killed here leaves the journal, so the next one
 * does the same again.
 *
 * With `locked`, the caller keeps other processes of this program from changing the file. Raises `busy` otherwise if
 * another keeps the folder locked.
 */
export async function undoAppend(top: Dir, name: Name, { locked = false } = {}): Promise<boolean> {
  const record = readRecord(top, name);
  if (record === undefined || !isLeftover(top, String(name), record.owner)) return false;
  using folder = openFolderOf(top, record.path);
  if (folder !== undefined) {
    using _lock = locked ? undefined : await lockFolder(folder);
    // Another process may have done so meanwhile, and be appending itself by now.
    if (readRecord(top, name)?.owner !== record.owner) return false;
    cutTornAppend(folder, { top, name, record });
  }
  ignoring(() => top.unlink(name), 'not_found');
  return true;
}

function cutTornAppend(folder: Dir, { top, name, record }: { top: Dir; name: Name; record: AppendRecord }): void {
  const fileName = record.path.split('/').at(-1) as string;
  using file = ignoring(() => folder.openForUpdate(fileName), 'not_found', ...NOT_A_FILE);
  if (file === undefined || file.stats.ino !== record.ino) return;
  const torn = file.size - record.before;
  if (torn <= 0 || torn >= record.length) return;
  using journal = top.openFile(name);
  const start = journal.size - record.length;
  const [ours, theirs] = [Buffer.alloc(CHUNK_BYTES), Buffer.alloc(CHUNK_BYTES)];
  for (let done = 0; done < torn; ) {
    const length = Math.min(CHUNK_BYTES, torn - done);
    const read = Math.min(journal.read(ours, start + done, length), file.read(theirs, record.before + done, length));
    if (read === 0 || !ours.subarray(0, read).equals(theirs.subarray(0, read))) return;
    done += read;
  }
  if (file.stat().size === file.size) file.truncate(record.before);
}

/**
 * Reads what a journal says. Undefined if there is none, or if it is another user's, who could have a file cut by it
 * that only this user may write. A journal gets its name when it is complete.
 */
function readRecord(top: Dir, name: Name): AppendRecord | undefined {
  using journal = ignoring(() => top.openFile(name), 'not_found', 'permission_denied', ...NOT_A_FILE);
  if (journal === undefined || !isTrusted(journal)) return undefined;
  const head = Buffer.alloc(Math.min(journal.size, CHUNK_BYTES));
  journal.read(head, 0);
  return JSON.parse(head.toString('utf8', 0, head.indexOf(LINE_END))) as AppendRecord;
}

function isTrusted({ stats: { uid } }: OpenFile): boolean {
  return uid === 0 || uid === (process.geteuid?.() ?? uid);
}

/** Opens the folder of a file. Undefined if it is gone, or a link or a file is in its place. */
function openFolderOf(top: Dir, path: string): Dir | undefined {
  let folder = top.openDir('.');
  for (const segment of path.split('/').slice(0, -1)) {
    using parent = folder;
    const child = ignoring(() => parent.openDir(segment), 'not_found', 'not_directory', 'link_loop');
    if (child === undefined) return undefined;
    folder = child;
  }
  return folder;
}

/** Runs `work`; returns undefined if it fails with one of these codes. */
function ignoring<T>(work: () => T, ...codes: FenceErrorCode[]): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!isFenceError(error, ...codes)) throw error;
    return undefined;
  }
}
