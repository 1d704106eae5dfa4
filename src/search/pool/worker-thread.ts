import { Worker } from 'node:worker_threads';
import { RingfenceError } from '../../errors.ts';
import { compiledFile } from '../../runtime/compiled-file.ts';
import { fromWorkerError } from '../../runtime/worker-error.ts';
import type { Task, TaskResult, WorkerReply, WorkerRequest } from './messages.ts';

interface Waiting {
  resolve(answer: TaskResult): void;
  reject(error: RingfenceError): void;
}

/** One worker, seen from the main thread. It keeps the process alive only while it has something to do. */
export class WorkerThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 1;
  #isReady = false;
  #ended: RingfenceError | undefined;

  constructor(onEnd: (thread: WorkerThread) => void) {
    // Descriptors opened through koffi are unknown to Node, which would warn about closing them.
    this.#worker = new Worker(compiledFile(import.meta.url, 'worker.js'), { trackUnmanagedFds: false, execArgv: [] });
    this.#worker.unref();
    this.#worker.on('message', (reply: WorkerReply) => this.#settle(reply));
    const ended = (cause: unknown): void => {
      this.#end(new RingfenceError('internal', {}, { cause }));
      onEnd(this);
    };
    this.#worker.on('error', ended);
    this.#worker.on('exit', (code) => ended(new Error(`a search worker ended unexpectedly with exit code ${code}`)));
  }

  /** It can search. Before that it takes tasks too, but does not begin with them. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** It is gone, and what it had begun is not done. */
  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** How many tasks it has not answered yet. */
  get load(): number {
    return this.#waiting.size;
  }

  /** For what has no answer. Does nothing if the worker has ended. */
  tell(request: WorkerRequest): void {
    if (this.#ended === undefined) this.#worker.postMessage(request);
  }

  /** Raises what the task raises there, `internal` if the worker ends before it has answered. */
  ask(search: number, task: Task): Promise<TaskResult> {
    const ended = this.#ended;
    if (ended !== undefined) return Promise.reject(ended);
    const id = this.#nextId;
    this.#nextId += 1;
    const answer = new Promise<TaskResult>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
    });
    this.#worker.ref();
    this.#worker.postMessage({ type: 'task', search, id, task } satisfies WorkerRequest);
    return answer;
  }

  /** Ends the thread. Tasks that wait for an answer are `cancelled`. */
  async close(): Promise<void> {
    this.#end(new RingfenceError('cancelled', {}));
    await this.#worker.terminate();
  }

  #settle(reply: WorkerReply): void {
    this.#isReady = true;
    if (reply === 'ready') return;
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (this.#waiting.size === 0) this.#worker.unref();
    if ('answer' in reply) waiting?.resolve(reply.answer);
    else waiting?.reject(fromWorkerError(reply.failure));
  }

  #end(error: RingfenceError): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}
