import { FenceError } from '../../fence/index.ts';
import { compiledFile } from '../../runtime/compiled-file.ts';
import { throwIfAborted } from '../../runtime/operation-context.ts';
import { WorkerThread, wasExhausted } from '../../runtime/worker-thread.ts';
import { FileError } from '../errors.ts';
import type { Edit, EditResult } from './edit.ts';
import type { EditOutcome } from './text/edit-outcome.ts';

/** The message that starts an edit in the worker thread. */
export interface EditCall {
  readonly original: Uint8Array | undefined;
  readonly edit: Edit;
}

/**
 * Applies an edit in a worker thread that ends before this returns. The original is transferred to the thread, not
 * copied: it must be the only buffer on its `ArrayBuffer`, and cannot be used afterwards. Raises what `applyEdit`
 * raises, `exhausted`, and the reason of an aborted signal.
 */
export async function editInWorker<E extends Edit>(
  original: Buffer | undefined,
  edit: E,
  signal: AbortSignal,
): Promise<EditOutcome<EditResult<E>>> {
  throwIfAborted(signal);
  const thread = new WorkerThread<EditCall, EditOutcome<EditResult<E>>>({
    entry: compiledFile(import.meta.url, 'edit-worker.js'),
    errors: { FileError, FenceError },
    crashed,
  });
  const stop = (): void => void thread.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const { content, result } = await thread.call({ original, edit }, original && [original.buffer as ArrayBuffer]);
    const { buffer, byteOffset, byteLength } = content;
    return { content: Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength), result };
  } catch (error) {
    throwIfAborted(signal);
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    await thread.close();
  }
}

/** Returns the error for a thread that ended by itself: `exhausted` if there was no descriptor or memory for it. */
function crashed(cause: unknown): Error {
  return wasExhausted(cause)
    ? new FenceError('exhausted', {}, { cause })
    : new Error('a worker thread ended unexpectedly', { cause });
}
