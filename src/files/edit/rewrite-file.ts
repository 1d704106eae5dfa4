import {
  type CallerPath,
  isFenceError,
  isTransient,
  lockFolder,
  type OpenFile,
  type Root,
  withLocation,
} from '../../fence/index.ts';
import { changeIn } from '../../history/index.ts';
import { type Caller, DEFAULT_CONTEXT, throwIfAborted } from '../../runtime/operation-context.ts';
import { FileError, isFileError } from '../errors.ts';
import { awaitLatest } from '../lease/await-latest.ts';
import { MisplacedLease } from '../lease/file-lease.ts';
import { leasesOf } from '../lease/leases.ts';
import { ChangeAttempt } from '../lease/retry-change.ts';
import { withLease } from '../lease/with-lease.ts';
import { locateIfPresent } from '../locate-if-present.ts';
import { readAt } from '../read/byte-source.ts';
import { versionOf } from '../version.ts';
import { undoAppendTo } from '../write/append-journal.ts';
import { ABSENT, assertVersion, expectedVersion } from '../write/if-match.ts';
import { assertReplaceable, replaceFile } from '../write/replace-file.ts';
import { applyEdit, type Edit, type EditResult, isQuickEdit } from './edit.ts';
import { editInWorker } from './edit-in-worker.ts';
import { WorkLimitExceeded } from './patch/work-limits.ts';
import type { EditOutcome } from './text/edit-outcome.ts';

/** The largest file that is edited: an edit holds the file in memory twice. */
const MAX_EDIT_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;
/** How often an edit is tried while other processes change the file. */
const MAX_ATTEMPTS = 20;
/** How often without locking the folder: most edits meet nobody, and a lock would make others wait for the disk. */
const OPTIMISTIC_ATTEMPTS = 4;
/** The longest random backoff between attempts, without which two processes could keep colliding. */
const MAX_BACKOFF_MS = 20;

/** Options of `rewriteFile`. */
export interface RewriteOptions {
  /** Flush to disk before returning (the default). */
  readonly durable?: boolean;
  /** Aborts the rewriting of a large file, which then stays unchanged. A small file is rewritten regardless. */
  readonly signal?: AbortSignal;
  /** Edit only if the file is still this one: a version, `sha256:` and the hash of the content, or `absent`. */
  readonly ifMatch?: string | undefined;
  /** Who asked for the edit, for the history of the root. */
  readonly caller?: Caller | undefined;
  /** Change nothing, but report what would be changed. Raises what can be known without changing anything. */
  readonly dryRun?: boolean;
}

/** What `rewriteFile` did. */
export interface Rewritten<R> extends EditOutcome<R> {
  /** The version of the file after the edit; after a dry run, of the file that is there, or `absent`. */
  readonly version: string;
}

/**
 * Reads a file, applies an edit, and replaces the file atomically, following links that stay inside the root. Rewrites
 * of one path in this process are serialized. If another process changes the file meanwhile, the edit is applied again
 * to the new content (optimistic concurrency), so no change is lost; after a few such attempts, other processes of this
 * program have to wait. Large files are read, edited and written on other threads, one file of a root at a time.
 * Missing parent folders are created only after the edit has succeeded.
 *
 * Raises what `applyEdit` and `replaceFile` raise, `too_large`, `version_mismatch` if the file is not that of
 * `ifMatch`, `changed_meanwhile` after 20 attempts, `busy` if another process keeps the folder locked, and the reason
 * of an aborted signal. In a root that other machines change, too, also what `withLease` raises.
 */
export async function rewriteFile<C extends Edit>(
  root: Root,
  path: CallerPath,
  edit: C,
  options: RewriteOptions,
): Promise<Rewritten<EditResult<C>>> {
  const rewrite = async (attempt: ChangeAttempt): Promise<Rewritten<EditResult<C>>> => {
    let large = false;
    for (let left = MAX_ATTEMPTS; ; left -= 1) {
      const once = async () => {
        const isOptimistic = attempt.lease !== undefined || left > MAX_ATTEMPTS - OPTIMISTIC_ATTEMPTS;
        using lock = isOptimistic ? undefined : await lockFolderOf(root, path);
        // Held open until the file is replaced: the inode number of a removed and closed file may be reused for
        // another.
        using current = await openCurrent(root, path, lock !== undefined);
        attempt.lease?.assertLatest(current?.stats);
        const job = { root, path, edit, options, current, locked: lock !== undefined, attempt };
        return large ? await attemptLarge(job) : await attemptQuick(job);
      };
      try {
        if (!large) {
          const done = await once();
          if (done !== undefined) return done;
          large = true;
        }
        // The turn comes before the lock of the folder: whoever has the turn may be waiting for that lock.
        return (await root.exclusiveLarge(once)) as Rewritten<EditResult<C>>;
      } catch (error) {
        const mayPass =
          isFileError(error, 'changed_meanwhile') ||
          isFenceError(error, 'already_exists') ||
          // Under a lease, `withLease` makes this machine look again before the next attempt.
          (attempt.lease === undefined && isTransient(error));
        if (left === 1 || attempt.mayHaveLanded || error instanceof MisplacedLease || !mayPass) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_BACKOFF_MS));
    }
  };
  const { signal = DEFAULT_CONTEXT.signal, dryRun = false } = options;
  const locate = (makeParents: boolean) =>
    makeParents ? root.locate(path, { follow: true, makeParents }) : locateIfPresent(root, path);
  const coordinated = async () => {
    if (!dryRun) return withLease({ root, names: path.segments, locate }, { signal }, rewrite);
    await awaitLatest(root, path, { signal });
    return rewrite(new ChangeAttempt());
  };
  // A lease orders the edits of this process, too, by whatever path or root the file is reached.
  const isLeased = leasesOf(root) !== undefined && !dryRun;
  return withLocation(root, path, () => (isLeased ? coordinated() : root.exclusive(path, coordinated)));
}

interface RewriteAttempt<C extends Edit> {
  readonly root: Root;
  readonly path: CallerPath;
  readonly edit: C;
  readonly options: RewriteOptions;
  readonly current: OpenFile | undefined;
  readonly locked: boolean;
  readonly attempt: ChangeAttempt;
}

/**
 * Edits on this thread, or returns undefined, with nothing changed, if a worker thread should do it. Raises
 * `too_large`.
 */
async function attemptQuick<C extends Edit>(job: RewriteAttempt<C>): Promise<Rewritten<EditResult<C>> | undefined> {
  const size = job.current?.size ?? 0;
  // Before the condition is checked, because the other attempt checks it, too, and that may take reading the whole
  // file.
  if (size <= MAX_EDIT_BYTES && !isQuickEdit(size, job.edit)) return undefined;
  await assertMatch(job);
  assertEditable(size);
  const outcome = applyQuickEdit(job.current, job.edit);
  return outcome && put(job, outcome, outcome.content);
}

/** Edits on a worker thread. Raises `too_large`, and the reason of an aborted signal. */
async function attemptLarge<C extends Edit>(job: RewriteAttempt<C>): Promise<Rewritten<EditResult<C>>> {
  const { current, edit, options } = job;
  const { signal = DEFAULT_CONTEXT.signal } = options;
  await assertMatch(job);
  assertEditable(current?.size ?? 0);
  const original = current && (await readInChunks(current, signal));
  const outcome = await editInWorker(original, edit, signal);
  const written = await put(job, outcome, (file) => writeInChunks(file, outcome.content, signal));
  await current?.closeAsync();
  return written;
}

/** Replaces the file by the edited one, unless it is a dry run. */
async function put<R>(
  { root, path, options, current, locked, attempt: { lease, onLanded } }: Omit<RewriteAttempt<Edit>, 'edit'>,
  outcome: EditOutcome<R>,
  fill: Parameters<typeof replaceFile>[1],
): Promise<Rewritten<R>> {
  if (options.dryRun) {
    using location = locateIfPresent(root, path);
    if (location !== undefined) assertReplaceable(location);
    return { ...outcome, version: current === undefined ? ABSENT : versionOf(current.stats) };
  }
  const { durable = true } = options;
  const change = changeIn(root, options.caller);
  const resolve = { follow: true, makeParents: true, onMake: change?.onMake };
  using location = lease === undefined ? root.locate(path, resolve) : locateIfPresent(root, path);
  // The file is known by its folder, so that has to be made before the lease is taken.
  if (location === undefined) throw new MisplacedLease();
  const over = current?.stats ?? 'nothing';
  const written = await replaceFile(location, fill, { durable, locked, change, over, lease, onLanded });
  return { ...outcome, version: versionOf(written) };
}

function assertEditable(size: number): void {
  if (size > MAX_EDIT_BYTES) throw new FileError('too_large', { size, limit: MAX_EDIT_BYTES });
}

/** Applies an edit on this thread, or returns undefined if that would take too long. */
function applyQuickEdit<C extends Edit>(
  current: OpenFile | undefined,
  edit: C,
): EditOutcome<EditResult<C>> | undefined {
  try {
    return applyEdit(current && readWhole(current), edit, { workLimited: true });
  } catch (error) {
    if (error instanceof WorkLimitExceeded) return undefined;
    throw error;
  }
}

/** Raises `changed_meanwhile` for a file that is shorter than it was. */
function readWhole(file: OpenFile): Buffer {
  const bytes = readAt(file, 0, file.size);
  assertWhole(file, bytes.length);
  return bytes;
}

/** GlusterFS may have cached the content of a moment at which it was not complete yet. */
function assertWhole({ size }: OpenFile, read: number): void {
  if (read < size) throw new FileError('changed_meanwhile', {});
}

/** Raises `version_mismatch` if the open file, undefined if there is none, is not the one that the caller expects. */
async function assertMatch({
  root,
  path,
  options: { ifMatch, signal = DEFAULT_CONTEXT.signal },
  current,
}: Pick<RewriteAttempt<Edit>, 'root' | 'path' | 'options' | 'current'>): Promise<void> {
  if (ifMatch === undefined) return;
  using location = locateIfPresent(root, path);
  const context = { ...DEFAULT_CONTEXT, signal };
  const expected = location === undefined ? ifMatch : await expectedVersion(ifMatch, { root, ...location, context });
  assertVersion(current?.stats, expected);
}

/** Locks the folder that a path leads to. Undefined if there is none, or it has no locks. Raises `busy`. */
async function lockFolderOf(root: Root, path: CallerPath): Promise<Disposable | undefined> {
  const location = locateIfPresent(root, path);
  let lock: Disposable | undefined;
  try {
    lock = location && (await lockFolder(location.dir));
  } finally {
    if (lock === undefined) location?.[Symbol.dispose]();
  }
  return (
    lock && {
      [Symbol.dispose]() {
        lock[Symbol.dispose]();
        location?.[Symbol.dispose]();
      },
    }
  );
}

/** Opens the file to edit, without what a killed process has left of an append to it. Undefined if there is none. */
async function openCurrent(root: Root, path: CallerPath, locked: boolean): Promise<OpenFile | undefined> {
  using location = locateIfPresent(root, path);
  if (location?.stats !== undefined) await undoAppendTo(root, location.stats, { locked });
  return location?.stats && location.dir.openFile(location.name);
}

async function readInChunks(file: OpenFile, signal: AbortSignal): Promise<Buffer> {
  const bytes = Buffer.alloc(file.size);
  let done = 0;
  while (done < bytes.length) {
    throwIfAborted(signal);
    const read = await file.readAsync(bytes.subarray(done, done + CHUNK_BYTES), done);
    if (read === 0) break;
    done += read;
  }
  assertWhole(file, done);
  return bytes;
}

async function writeInChunks(file: OpenFile, bytes: Buffer, signal: AbortSignal): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    throwIfAborted(signal);
    done += await file.writeAsync(bytes.subarray(done, done + CHUNK_BYTES));
  }
  throwIfAborted(signal);
}
