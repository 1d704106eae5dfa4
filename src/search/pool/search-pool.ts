import { availableParallelism } from 'node:os';
import { FenceError } from '../../fence/index.ts';
import { compiledFile } from '../../runtime/compiled-file.ts';
import { CancelledError } from '../../runtime/operation-context.ts';
import { WorkerThread } from '../../runtime/worker-thread.ts';
import { SearchError } from '../pattern/search-error.ts';
import type { GlobFound } from './glob-task.ts';
import type { GrepFound } from './match-collector.ts';
import type { GlobSpec, GrepSpec, SearchNotice, SearchSpec, SearchTask, TaskResult } from './messages.ts';
import { StealRequest, StopFlag } from './shared-flags.ts';
import { type PackedResults, packResults, unpackResults, type WorkResult, type WorkUnit } from './work-unit.ts';

/** More threads compete for disk and memory bandwidth without searching faster. */
const MAX_WORKERS = 8;
/** Starting a thread takes about this much processor time, so a search that ends sooner is better off without another. */
const START_MS = 50;

type SearchThread = WorkerThread<SearchTask, TaskResult, SearchNotice>;

/**
 * The worker threads that grep and glob run on. Threads start on demand and are kept; while idle they do not keep the
 * process alive. A thread that crashes fails the searches it takes part in with `internal` and is replaced.
 *
 * Concurrent searches share the threads in round-robin order. There is no limit on their number.
 */
export class SearchPool implements AsyncDisposable {
  /** Maximum number of threads, by default the number of processors but at most 8. */
  readonly size: number;
  readonly #threads: SearchThread[] = [];
  #searches = 0;
  #closed = false;
  #isStartDeferred = false;

  constructor({ size = Math.min(availableParallelism(), MAX_WORKERS) }: { size?: number } = {}) {
    this.size = size;
  }

  /** Begins a search. Dispose of it when it has ended. Raises `cancelled` once the pool is closed. @internal */
  begin(spec: GrepSpec): PooledSearch<GrepFound>;
  /** @internal */
  begin(spec: GlobSpec): PooledSearch<GlobFound>;
  /** @internal */
  begin(spec: SearchSpec): PooledSearch<unknown> {
    if (this.#closed) throw new CancelledError();
    this.#searches += 1;
    const began = performance.now();
    return new PooledSearch({
      number: this.#searches,
      spec,
      pick: () => this.#leastBusy(began),
      ended: () => this.#startDeferred(),
    });
  }

  /** Terminates all threads. Searches in progress reject with `CancelledError`, and so do later ones. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#threads.splice(0).map((thread) => thread.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Returns an idle thread, otherwise the ready one with the fewest tasks: a thread that starts may take longer than
   * the task. At most as many threads start at once as are ready, because a start takes time from those at work; for
   * the same reason, the start of a thread that a short search could have used waits for the end of that search.
   */
  #leastBusy(began: number): SearchThread {
    if (this.#closed) throw new CancelledError();
    const ready = this.#threads.filter((thread) => thread.isReady);
    const idle = ready.find((thread) => thread.load === 0);
    if (idle !== undefined) return idle;
    const starting = this.#threads.length - ready.length;
    if (this.#threads.length < this.size && starting < Math.max(1, ready.length)) {
      if (ready.length === 0 || performance.now() - began > START_MS) this.#start();
      else this.#isStartDeferred = true;
    }
    const able = ready.length > 0 ? ready : this.#threads;
    return able.reduce((least, thread) => (thread.load < least.load ? thread : least));
  }

  /** Starts the thread that a search could have used, for those to come. */
  #startDeferred(): void {
    if (!this.#isStartDeferred) return;
    this.#isStartDeferred = false;
    // The result of the search goes out first.
    setImmediate(() => {
      if (!this.#closed && this.#threads.length < this.size) this.#start();
    });
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
  /** Called when the search has ended. */
  ended(): void;
}

/** One search on the pool. Workers learn of it with their first task. */
export class PooledSearch<F> implements Disposable {
  readonly #options: PooledSearchOptions;
  readonly #stop = new StopFlag();
  readonly #steal = new StealRequest();
  readonly #threads = new Set<SearchThread>();

  constructor(options: PooledSearchOptions) {
    this.#options = options;
  }

  /**
   * Runs a task on the least busy worker and returns, in path order, what it found and what is left to do. Rejects with
   * the error the task raises, or `internal` if the thread crashes.
   */
  async run(units: readonly WorkUnit[], limits: Pick<SearchTask, 'budget' | 'toPass'>): Promise<WorkResult<F>[]> {
    const thread = this.#options.pick();
    const { number: search, spec } = this.#options;
    if (!this.#threads.has(thread)) {
      this.#threads.add(thread);
      thread.notify({ type: 'begin', search, spec, stop: this.#stop.shared, steal: this.#steal.shared });
    }
    const results = await thread.call({ search, units: packResults(units), ...limits });
    return unpackResults(results as PackedResults<F>);
  }

  /** Posts or withdraws a request that one worker hands back the rest of its task, so that others can work on it. */
  requestSteal(isWanted: boolean): void {
    this.#steal.post(isWanted);
  }

  /** Whether the search was told to stop. */
  get stopped(): boolean {
    return this.#stop.raised;
  }

  /** Makes all tasks answer soon with what they have. */
  stop(): void {
    this.#stop.raise();
  }

  [Symbol.dispose](): void {
    this.stop();
    for (const thread of this.#threads) thread.notify({ type: 'end', search: this.#options.number });
    this.#options.ended();
  }
}
