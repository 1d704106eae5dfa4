import { parentPort } from 'node:worker_threads';
import { toWorkerError } from './worker-error.ts';
import type { FromWorker, ToWorker } from './worker-thread.ts';

/** Answers one call. Call exactly one of its methods, once. */
export interface Reply<Result> {
  /** Sends the result. Buffers in `transfer` are moved to the parent thread instead of being copied. */
  done(result: Result, transfer?: readonly ArrayBuffer[]): void;
  /** Sends an error, which the parent's call rejects with. */
  failed(error: unknown): void;
}

interface WorkerHandlers<Call, Result, Notice> {
  /** Handles one call; it may answer later. An exception thrown here ends the thread. */
  call(call: Call, reply: Reply<Result>): void;
  notice?(notice: Notice): void;
}

/**
 * Serves the messages that the parent sends through a `WorkerThread`. Call it once, in the entry module of the thread.
 * Throws if this thread is not a worker.
 */
export function serveParent<Call, Result, Notice>(handlers: WorkerHandlers<Call, Result, Notice>): void {
  const port = parentPort;
  if (port === null) throw new Error('this module is the entry of a worker thread');
  const post = (message: FromWorker<Result>, transfer: readonly ArrayBuffer[] = []): void =>
    port.postMessage(message, transfer);
  port.on('message', (message: ToWorker<Call, Notice>) => {
    if ('notice' in message) {
      handlers.notice?.(message.notice);
      return;
    }
    const { id, call } = message;
    handlers.call(call, {
      done: (result, transfer) => post({ id, result }, transfer),
      failed: (error) => post({ id, error: toWorkerError(error) }),
    });
  });
  post('ready');
}
