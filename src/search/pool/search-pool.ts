import { availableParallelism } from 'node:os';
import { FenceError } from '../../fence/index.ts';
import { compiledFile } from '../../runtime/compiled-file.ts';
import { CancelledError } from '../../runtime/operation-context.ts';
import { WorkerThread } from '../../runtime/worker-thread.ts';
import { SearchError } from '../pattern/search-error.ts';
import type { GlobSpec, GrepSpec, SearchSpec } from '../task/specs.ts';
import { StopFlag } from '../task/stop-flag.ts';
import { StealRequest } from '../walk/steal-request.ts';
import type { EntryResults } from './glob-task.ts';
import type { LineResults } from './match-collector.ts';
import type { SearchNotice, SearchTask, TaskResult } from './messages.ts';
import { type PackedResults, packResults, unpackResults, type WorkResult, type WorkUnit } from './work-unit.ts';

/** More threads than this wait for the disk or the memory rather than search. */
const MAX_WORKERS = 8;

type SearchThread = WorkerThread<SearchTask, TaskResult, SearchNotice>;

/**
 * The worker threads that searches run on. They start when they are first needed and stay; while idle they do not keep the
 * process alive. A worker that crashes fails the searches it took part in and is replaced.
 */
export class SearchPool implements AsyncDisposable {
  /** The number of workers it may start: by default one for each processor, at most 8. */
  readonly size: number;
  readonly #threads: SearchThread[] = [];
  #searches = 0;
  #closed = false;

  constructor({ size = Math.min(availableParallelism(), MAX_WORKERS) }: { size?: number } = {}) {
    this.size = size;
  }

  /** Starts a search. Dispose of it when it is over. @internal */
  begin(spec: GrepSpec): PooledSearch<LineResults>;
  /** @internal */
  begin(spec: GlobSpec): PooledSearch<EntryResults>;
  /** @internal */
  begin(spec: SearchSpec): PooledSearch<unknown> {
    if (this.#closed) throw new CancelledError();
    this.#searches += 1;
    return new PooledSearch({ number: this.#searches, spec, pick: () => this.#leastBusy() });
  }

  /** Ends all workers. Searches under way reject with `CancelledError`. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#threads.splice(0).map((thread) => thread.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** An idle worker, else the ready one with the fewest tasks: starting a worker can take longer than the task. */
  #leastBusy(): SearchThread {
    if (this.#closed) throw new CancelledError();
    const idle = this.#threads.filter((thread) => thread.load === 0);
    if (idle.length > 0) return idle.find((thread) => thread.isReady) ?? (idle[0] as SearchThread);
    if (this.#threads.length < this.size) this.#start();
    const ready = this.#threads.filter((thread) => thread.isReady);
    const able = ready.length > 0 ? ready : this.#threads;
    return able.reduce((least, thread) => (thread.load < least.load ? thread : least));
  }

  #start(): void {
    const thread: SearchThread = new WorkerThread({
      entry: compiledFile(import.meta.url, 'search-worker.js'),
      errors: { FenceError, SearchError },
      crashed: (cause) => new SearchError('internal', {}, { cause }),
      onEnd: () => {
        const at = this.#threads.indexOf(thread);
        if (at !== -1) this.#threads.splice(at, 1);
      },
    });
    this.#threads.push(thread);
  }
}

interface PooledSearchOptions {
  readonly number: number;
  readonly spec: SearchSpec;
  pick(): SearchThread;
}

/** One search on the pool. */
export class PooledSearch<F> implements Disposable {
  readonly #options: PooledSearchOptions;
  readonly #stop = new StopFlag();
  readonly #steal = new StealRequest();
  readonly #threads = new Set<SearchThread>();

  constructor(options: PooledSearchOptions) {
    this.#options = options;
  }

  /** Has the least busy worker work on some units, and returns what they turn into. */
  async run(units: readonly WorkUnit[], budget: number): Promise<WorkResult<F>[]> {
    const thread = this.#options.pick();
    const { number: search, spec } = this.#options;
    if (!this.#threads.has(thread)) {
      this.#threads.add(thread);
      thread.notify({ type: 'begin', search, spec, stop: this.#stop.shared, steal: this.#steal.shared });
    }
    const results = await thread.call({ search, units: packResults(units), budget });
    return unpackResults(results as PackedResults<F>);
  }

  /** Asks one of the workers, or no longer does, to hand back what it has left, so that others can work on it. */
  requestSteal(isWanted: boolean): void {
    this.#steal.post(isWanted);
  }

  get stopped(): boolean {
    return this.#stop.raised;
  }

  /** Makes all tasks answer soon, with what they have. */
  stop(): void {
    this.#stop.raise();
  }

  [Symbol.dispose](): void {
    this.stop();
    for (const thread of this.#threads) thread.notify({ type: 'end', search: this.#options.number });
  }
}
