import { Worker } from 'node:worker_threads';
import { RingfenceError } from '../../errors.ts';
import { compiledFile } from '../../runtime/compiled-file.ts';
import { throwIfAborted } from '../../runtime/operation-context.ts';
import { fromWorkerError, type WorkerError } from '../../runtime/worker-error.ts';
import type { Edit, EditOutcome, EditResult } from './change.ts';

export interface EditRequest {
  readonly original: Uint8Array | undefined;
  readonly change: Edit;
}

export type EditReply =
  | { readonly content: Uint8Array; readonly result: EditResult<Edit> }
  | { readonly failure: WorkerError };

/**
 * Makes a change on a thread of its own, which is gone when this returns. The original must have its memory to itself and
 * cannot be used afterwards: it moves there, as the new content moves back, and neither is copied. Raises what the change
 * raises, and what the signal was aborted with.
 */
export async function applyEditInWorker<C extends Edit>(
  original: Buffer | undefined,
  change: C,
  signal: AbortSignal,
): Promise<EditOutcome<EditResult<C>>> {
  throwIfAborted(signal);
  const worker = new Worker(compiledFile(import.meta.url, 'worker.js'), {
    workerData: { original, change } satisfies EditRequest,
    transferList: original === undefined ? [] : [original.buffer as ArrayBuffer],
    execArgv: [],
  });
  const end = (): void => void worker.terminate();
  signal.addEventListener('abort', end, { once: true });
  try {
    const reply = await replyOf(worker);
    throwIfAborted(signal);
    if (reply === undefined) throw internal(new Error('a thread ended before it had made a change'));
    if ('failure' in reply) throw fromWorkerError(reply.failure);
    const { buffer, byteOffset, byteLength } = reply.content;
    const content = Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
    return { content, result: reply.result as EditResult<C> };
  } finally {
    signal.removeEventListener('abort', end);
    await worker.terminate();
  }
}

/** Undefined if the thread ends without one. */
function replyOf(worker: Worker): Promise<EditReply | undefined> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', (error) => reject(internal(error)));
    worker.once('exit', () => resolve(undefined));
  });
}

function internal(cause: unknown): RingfenceError<'internal'> {
  return new RingfenceError('internal', {}, { cause });
}
