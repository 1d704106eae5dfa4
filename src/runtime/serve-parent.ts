import { parentPort } from 'node:worker_threads';
import { toWorkerError } from './worker-error.ts';
import type { FromWorker, ToWorker } from './worker-thread.ts';

/** The way to answer one call. */
export interface Reply<Result> {
  /** Buffers in `transfer` move to the other thread instead of being copied. */
  done(result: Result, transfer?: readonly ArrayBuffer[]): void;
  failed(error: unknown): void;
}

interface WorkerHandlers<Call, Result, Notice> {
  /** Answers a call, now or later. */
  call(call: Call, reply: Reply<Result>): void;
  notice?(notice: Notice): void;
}

/** Answers the messages that the parent sends through a `WorkerThread`. To be called once, in the thread's entry module. */
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
