import { Worker } from 'node:worker_threads';
import { CancelledError } from './operation-context.ts';
import { type ErrorClasses, fromWorkerError, type WorkerError } from './worker-error.ts';

/** A message to a worker. A call has an id and is answered; a notice is not. */
export type ToWorker<Call, Notice> = { readonly id: number; readonly call: Call } | { readonly notice: Notice };

/** A message from a worker. `ready` is sent once, when the worker's modules are loaded. */
export type FromWorker<Result> =
  | 'ready'
  | { readonly id: number; readonly result: Result }
  | { readonly id: number; readonly error: WorkerError };

/** Options of a `WorkerThread`. */
export interface WorkerThreadOptions {
  /** The compiled module that the thread runs. It must call `serveParent`. */
  readonly entry: URL;
  /** Error classes to restore when a call fails. */
  readonly errors: ErrorClasses;
  /** Creates the error for calls that are pending when the thread crashes; by default a plain `Error`. */
  crashed?(cause: unknown): Error;
  /** Called when the thread has ended for any reason. May be called twice: once for the error, once for the exit. */
  onEnd?(): void;
}

interface PendingCall<Result> {
  resolve(result: Result): void;
  reject(error: Error): void;
}

/**
 * A worker thread as seen by the thread that started it: calls with answers, and notices without. It keeps the process
 * alive only while a call is pending.
 */
export class WorkerThread<Call, Result, Notice = never> {
  readonly #worker: Worker;
  readonly #errors: ErrorClasses;
  readonly #pending = new Map<number, PendingCall<Result>>();
  #nextId = 1;
  #isReady = false;
  /**
   * Makes the error of a call that the ended thread does not answer. Each call gets its own, since callers add to it.
   */
  #ended: (() => Error) | undefined;

  constructor({ entry, errors, crashed = plainError, onEnd }: WorkerThreadOptions) {
    this.#errors = errors;
    // Node does not know descriptors opened through koffi and would warn when they are closed.
    this.#worker = new Worker(entry, { trackUnmanagedFds: false, execArgv: [] });
    this.#worker.unref();
    this.#worker.on('message', (message: FromWorker<Result>) => this.#receive(message));
    const ended = (cause: unknown): void => {
      this.#end(() => crashed(cause));
      onEnd?.();
    };
    this.#worker.on('error', ended);
    this.#worker.on('exit', (code) => ended(new Error(`exit code ${code}`)));
  }

  /** Whether the worker's modules are loaded. Calls made before that are queued. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether the thread has ended or was closed. */
  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** The number of calls without an answer. */
  get load(): number {
    return this.#pending.size;
  }

  /** Sends a notice. Does nothing once the thread has ended. */
  notify(notice: Notice): void {
    if (this.#ended === undefined) this.#worker.postMessage({ notice } satisfies ToWorker<Call, Notice>);
  }

  /**
   * Sends a call. Rejects with the error that the call raises in the worker, with the error from `crashed` if the
   * thread ends before it answers, and with the reason of `close`.
   */
  call(call: Call, transfer: readonly ArrayBuffer[] = []): Promise<Result> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended());
    const id = this.#nextId;
    this.#nextId += 1;
    const result = new Promise<Result>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
    });
    this.#worker.ref();
    this.#worker.postMessage({ id, call } satisfies ToWorker<Call, Notice>, transfer);
    return result;
  }

  /** Terminates the thread. Pending calls reject with what `reason` makes, by default a `CancelledError`. */
  async close(reason: () => Error = () => new CancelledError()): Promise<void> {
    this.#end(reason);
    await this.#worker.terminate();
  }

  #receive(message: FromWorker<Result>): void {
    this.#isReady = true;
    if (message === 'ready') return;
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    // A thread that is being closed keeps the process alive: it would end, with exit code 13, before `close` resolves.
    if (this.#pending.size === 0 && !this.hasEnded) this.#worker.unref();
    if ('result' in message) pending?.resolve(message.result);
    else pending?.reject(fromWorkerError(message.error, this.#errors));
  }

  #end(error: () => Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#ended());
    this.#pending.clear();
  }
}

/** Reports whether a thread ended by itself because there was no descriptor or memory for it. */
export function wasExhausted(cause: unknown): boolean {
  const { code } = cause as { readonly code?: unknown };
  return /^(?:E[MN]FILE|ENOMEM|ERR_WORKER_INIT_FAILED|ERR_WORKER_OUT_OF_MEMORY)$/.test(String(code));
}

function plainError(cause: unknown): Error {
  return new Error('a worker thread ended unexpectedly', { cause });
}
