import { compiledFile } from '../../runtime/compiled-file.ts';
import { throwIfAborted } from '../../runtime/operation-context.ts';
import { WorkerThread } from '../../runtime/worker-thread.ts';
import { FileError } from '../errors.ts';
import type { Edit, EditOutcome, EditResult } from './edit.ts';

export interface EditCall {
  readonly original: Uint8Array | undefined;
  readonly edit: Edit;
}

/**
 * Applies an edit in a worker thread, which is gone when this returns. The original must have its memory to itself and cannot be
 * used afterwards: it moves to the thread, as the new content moves back, and neither is copied. Raises what the edit raises,
 * and what the signal was aborted with.
 */
export async function editInWorker<E extends Edit>(
  original: Buffer | undefined,
  edit: E,
  signal: AbortSignal,
): Promise<EditOutcome<EditResult<E>>> {
  throwIfAborted(signal);
  const thread = new WorkerThread<EditCall, EditOutcome<EditResult<E>>>({
    entry: compiledFile(import.meta.url, 'edit-worker.js'),
    errors: { FileError },
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
