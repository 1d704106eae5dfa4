import { Worker } from 'node:worker_threads';
import { CancelledError } from './operation-context.ts';
import { type ErrorClasses, fromWorkerError, type WorkerError } from './worker-error.ts';

/** A message to a worker: a call has an id and is answered, a notice is not. */
export type ToWorker<Call, Notice> = { readonly id: number; readonly call: Call } | { readonly notice: Notice };

/** A message from a worker. `ready` comes once, when its modules are loaded. */
export type FromWorker<Result> =
  | 'ready'
  | { readonly id: number; readonly result: Result }
  | { readonly id: number; readonly error: WorkerError };

export interface WorkerThreadOptions {
  /** The compiled module that the thread runs; it calls `serveParent`. */
  readonly entry: URL;
  /** The classes of errors that its calls may fail with. */
  readonly errors: ErrorClasses;
  /** The error of calls that were pending when the thread crashed; a plain `Error` by default. */
  crashed?(cause: unknown): Error;
  /** Called when the thread is gone, for whatever reason. */
  onEnd?(): void;
}

interface PendingCall<Result> {
  resolve(result: Result): void;
  reject(error: Error): void;
}

/** A worker thread, seen from the thread that started it. It keeps the process alive only while a call is pending. */
export class WorkerThread<Call, Result, Notice = never> {
  readonly #worker: Worker;
  readonly #errors: ErrorClasses;
  readonly #pending = new Map<number, PendingCall<Result>>();
  #nextId = 1;
  #isReady = false;
  #ended: Error | undefined;

  constructor({ entry, errors, crashed = plainError, onEnd }: WorkerThreadOptions) {
    this.#errors = errors;
    // Descriptors opened through koffi are unknown to Node, which would warn about closing them.
    this.#worker = new Worker(entry, { trackUnmanagedFds: false, execArgv: [] });
    this.#worker.unref();
    this.#worker.on('message', (message: FromWorker<Result>) => this.#receive(message));
    const ended = (cause: unknown): void => {
      this.#end(crashed(cause));
      onEnd?.();
    };
    this.#worker.on('error', ended);
    this.#worker.on('exit', (code) => ended(new Error(`exit code ${code}`)));
  }

  /** Whether its modules are loaded. Calls are accepted before that, but do not begin. */
  get isReady(): boolean {
    return this.#isReady;
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** The number of calls that are not answered yet. */
  get load(): number {
    return this.#pending.size;
  }

  /** Sends a message that is not answered. Does nothing once the thread has ended. */
  notify(notice: Notice): void {
    if (this.#ended === undefined) this.#worker.postMessage({ notice } satisfies ToWorker<Call, Notice>);
  }

  /** Rejects with what the call raises in the thread, and with a plain `Error` if the thread ends before it has answered. */
  call(call: Call, transfer: readonly ArrayBuffer[] = []): Promise<Result> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const id = this.#nextId;
    this.#nextId += 1;
    const result = new Promise<Result>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
    });
    this.#worker.ref();
    this.#worker.postMessage({ id, call } satisfies ToWorker<Call, Notice>, transfer);
    return result;
  }

  /** Ends the thread. Pending calls reject with `CancelledError`. */
  async close(): Promise<void> {
    this.#end(new CancelledError());
    await this.#worker.terminate();
  }

  #receive(message: FromWorker<Result>): void {
    this.#isReady = true;
    if (message === 'ready') return;
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (this.#pending.size === 0) this.#worker.unref();
    if ('result' in message) pending?.resolve(message.result);
    else pending?.reject(fromWorkerError(message.error, this.#errors));
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#ended);
    this.#pending.clear();
  }
}

function plainError(cause: unknown): Error {
  return new Error('a worker thread ended unexpectedly', { cause });
}
