import {
  type CallerPath,
  isFenceError,
  type Location,
  type OpenFile,
  type Root,
  withLocation,
} from '../../fence/index.ts';
import { DEFAULT_CONTEXT, throwIfAborted } from '../../runtime/operation-context.ts';
import { FileError, isFileError } from '../errors.ts';
import { MAX_EDIT_BYTES } from '../limits.ts';
import { readAt } from '../read/byte-source.ts';
import { replaceFile } from '../write/replace-file.ts';
import { applyEdit, type Edit, type EditOutcome, type EditResult, isQuickEdit } from './edit.ts';
import { editInWorker } from './edit-in-worker.ts';
import { TimeLimitExceeded } from './patch/work-limits.ts';

const CHUNK_BYTES = 1024 * 1024;
const ATTEMPTS = 20;
/** Between attempts, at most: two processes that edit in step would meet again and again. */
const PAUSE_MS = 20;

export interface RewriteOptions {
  /** Wait until the disk has it, which is the default. */
  readonly durable?: boolean;
  /** Stops the rewriting of a large file, which then stays as it is. */
  readonly signal?: AbortSignal;
}

/**
 * Reads a file, changes it and puts it back whole, through links that stay inside. Rewrites of one file take turns; if
 * somebody else changes it meanwhile, the change is made again to what is there now, so no edit is lost;
 * `changed_meanwhile` if that never ends. Large files are read, changed and written on other threads, one of a root at a
 * time. Folders above a new file are made only once the change has worked out.
 */
export async function rewriteFile<C extends Edit>(
  root: Root,
  path: CallerPath,
  edit: C,
  options: RewriteOptions,
): Promise<EditOutcome<EditResult<C>>> {
  const rewrite = async (): Promise<EditOutcome<EditResult<C>>> => {
    for (let left = ATTEMPTS; ; left -= 1) {
      // Held open until the new file is in place: a closed one's inode number may come back as another file's.
      using current = openCurrent(root, path);
      try {
        return await attempt({ root, path, edit, options, current });
      } catch (error) {
        if (left === 1 || !(isFileError(error, 'changed_meanwhile') || isFenceError(error, 'already_exists')))
          throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MS));
    }
  };
  return withLocation(root, path, () => root.exclusive(path, rewrite));
}

interface RewriteAttempt<C extends Edit> {
  readonly root: Root;
  readonly path: CallerPath;
  readonly edit: C;
  readonly options: RewriteOptions;
  readonly current: OpenFile | undefined;
}

async function attempt<C extends Edit>({ root, path, edit, options, current }: RewriteAttempt<C>) {
  const put = async (outcome: EditOutcome<EditResult<C>>, fill: Parameters<typeof replaceFile>[1]) => {
    using place = root.locate(path, { follow: true, makeParents: true });
    await replaceFile(place, fill, { durable: options.durable ?? true, over: current?.stats ?? 'nothing' });
    return outcome;
  };
  const quick = applyQuickEdit(current, edit);
  if (quick !== undefined) return put(quick, quick.content);
  return root.exclusiveLarge(async () => {
    const { signal = DEFAULT_CONTEXT.signal } = options;
    const original = current && (await readInChunks(current, signal));
    const outcome = await editInWorker(original, edit, signal);
    await put(outcome, (file) => writeInChunks(file, outcome.content, signal));
    await current?.closeAsync();
    return outcome;
  });
}

/** Undefined for what would take longer than some milliseconds, which is more than to start a thread costs the others. */
function applyQuickEdit<C extends Edit>(
  current: OpenFile | undefined,
  edit: C,
): EditOutcome<EditResult<C>> | undefined {
  const size = current?.size ?? 0;
  if (size > MAX_EDIT_BYTES) throw new FileError('too_large', { size, limit: MAX_EDIT_BYTES });
  if (!isQuickEdit(size, edit)) return undefined;
  try {
    return applyEdit(current && readAt(current, 0, size), edit, { timeLimited: true });
  } catch (error) {
    if (error instanceof TimeLimitExceeded) return undefined;
    throw error;
  }
}

function openCurrent(root: Root, path: CallerPath): OpenFile | undefined {
  using place = find(root, path);
  return place?.stats && place.dir.openFile(place.name);
}

function find(root: Root, path: CallerPath): Location | undefined {
  try {
    return root.locate(path, { follow: true });
  } catch (error) {
    if (isFenceError(error, 'not_found')) return undefined;
    throw error;
  }
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
  return bytes.subarray(0, done);
}

async function writeInChunks(file: OpenFile, bytes: Buffer, signal: AbortSignal): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    throwIfAborted(signal);
    done += await file.writeAsync(bytes.subarray(done, done + CHUNK_BYTES));
  }
  throwIfAborted(signal);
}
