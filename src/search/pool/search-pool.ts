import { availableParallelism } from 'node:os';
import { FenceError } from '../../fence/index.ts';
import { compiledFile } from '../../runtime/compiled-file.ts';
import { CancelledError } from '../../runtime/operation-context.ts';
import { WorkerThread, wasExhausted } from '../../runtime/worker-thread.ts';
import { SearchError } from '../pattern/search-error.ts';
import type { GlobFound } from './glob-task.ts';
import type { GrepFound } from './match-collector.ts';
import type { GlobSpec, GrepSpec, SearchNotice, SearchSpec, SearchTask, TaskResult } from './messages.ts';
import { ShareLimit, type Slot } from './share-limit.ts';
import { StealRequest, StopFlag } from './shared-flags.ts';
import { type PackedResults, packResults, unpackResults, type WorkResult, type WorkUnit } from './work-unit.ts';

/** More threads compete for disk and memory bandwidth without searching faster. */
const MAX_WORKERS = 8;
/**
 * Starting a thread takes about this much processor time, so a search that ends sooner is better off without another.
 */
const START_MS = 50;
/** Time for the tasks of a search that was stopped to hand in what they have. */
const GRACE_MS = 50;
/** A thread that has not answered this long after a search was stopped hangs, for instance in a system call. */
const HUNG_MS = 5_000;
/** A pattern of this many characters takes as much memory as an ordinary search. */
const PATTERN_PER_WEIGHT = 8 * 1024;

type SearchThread = WorkerThread<SearchTask, TaskResult, SearchNotice>;

/**
 * The worker threads that grep and glob run on. Threads start on demand and are kept; while idle they do not keep the
 * process alive. A thread that crashes fails the searches it takes part in with `internal`, or `exhausted` if it lacked
 * descriptors or memory, and is replaced. So is one that hangs, whose other searches go on elsewhere.
 *
 * Concurrent searches use the threads in round-robin order: shares get equal time, and the searches of one share divide
 * its time among them. There is no limit on the number of shares; of one share, some searches run and the others wait.
 */
export class SearchPool implements AsyncDisposable {
  /** Maximum number of threads, by default the number of processors but at most 8. */
  readonly size: number;
  readonly #threads: SearchThread[] = [];
  readonly #limit = new ShareLimit();
  #searches = 0;
  #ended = 0;
  #closed = false;
  #isStartDeferred = false;

  constructor({ size = Math.min(availableParallelism(), MAX_WORKERS) }: { size?: number } = {}) {
    this.size = size;
  }

  /** Begins a search. Dispose of it when it has ended. Raises `cancelled` once the pool is closed. @internal */
  begin(spec: GrepSpec, share?: string): PooledSearch<GrepFound>;
  /** @internal */
  begin(spec: GlobSpec, share?: string): PooledSearch<GlobFound>;
  /** @internal */
  begin(spec: SearchSpec, share = ''): PooledSearch<unknown> {
    if (this.#closed) throw new CancelledError();
    this.#searches += 1;
    const began = performance.now();
    return new PooledSearch({
      number: this.#searches,
      share,
      spec,
      slot: this.#limit.enter(share, weightOf(spec)),
      pick: () => this.#leastBusy(began),
      ended: () => {
        this.#ended += 1;
        this.#startDeferred();
      },
      abandoned: (thread, answer) => this.#watch(thread, answer),
    });
  }

  /** How many threads there are, and how many searches have begun and not ended, of which some may wait. */
  get usage(): { threads: number; searches: number; waiting: number } {
    const searches = this.#searches - this.#ended;
    return { threads: this.#threads.length, searches, waiting: this.#limit.waiting };
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

  /** Replaces a thread that does not answer. What it had open at that moment stays open. */
  #watch(thread: SearchThread, answer: Promise<unknown>): void {
    const timer = setTimeout(() => {
      this.#remove(thread);
      void thread.close(() => new ThreadHungError('a search thread hangs'));
    }, HUNG_MS);
    timer.unref();
    const settled = (): void => clearTimeout(timer);
    answer.then(settled, settled);
  }

  #remove(thread: SearchThread): void {
    const at = this.#threads.indexOf(thread);
    if (at !== -1) this.#threads.splice(at, 1);
  }

  #start(): void {
    const thread: SearchThread = new WorkerThread({
      entry: compiledFile(import.meta.url, 'search-worker.js'),
      errors: { FenceError, SearchError },
      crashed: (cause) =>
        wasExhausted(cause) ? new FenceError('exhausted', {}, { cause }) : new SearchError('internal', {}, { cause }),
      onEnd: () => this.#remove(thread),
    });
    this.#threads.push(thread);
  }
}

/** Returns how much memory a search takes, in ordinary searches. */
function weightOf(spec: SearchSpec): number {
  const { length } = spec.kind === 'grep' ? spec.pattern : (spec.regex ?? '');
  return 1 + Math.floor(length / PATTERN_PER_WEIGHT);
}

interface PooledSearchOptions {
  readonly number: number;
  readonly share: string;
  readonly spec: SearchSpec;
  readonly slot: Slot;
  pick(): SearchThread;
  /** Called when the search has ended. */
  ended(): void;
  /** Called for a task that has not answered by the end of the search. */
  abandoned(thread: SearchThread, answer: Promise<unknown>): void;
}

/** One search on the pool. Workers learn of it with their first task. */
export class PooledSearch<F> implements Disposable {
  readonly #options: PooledSearchOptions;
  readonly #stop = new StopFlag();
  readonly #steal = new StealRequest();
  readonly #threads = new Set<SearchThread>();
  readonly #answers = new Map<Promise<unknown>, SearchThread>();
  #grace: NodeJS.Timeout | undefined;
  #abandon: () => void = () => {};
  /** Resolves a moment after the search was stopped: its tasks need not be waited for any longer. */
  readonly abandoned = new Promise<void>((resolve) => {
    this.#abandon = resolve;
  });

  constructor(options: PooledSearchOptions) {
    this.#options = options;
  }

  /**
   * Runs a task on the least busy worker and returns, in path order, what it found and what is left to do. Rejects with
   * the error the task raises, or `internal` if the thread crashes. If the thread hangs in another search, the task
   * runs again on another one, which makes no difference to what it returns.
   */
  async run(units: readonly WorkUnit[], limits: Pick<SearchTask, 'budget' | 'toPass'>): Promise<WorkResult<F>[]> {
    if (this.#options.slot.ready !== undefined) await this.#options.slot.ready;
    for (;;) {
      const thread = this.#options.pick();
      try {
        return unpackResults((await this.#runOn(thread, units, limits)) as PackedResults<F>);
      } catch (error) {
        if (!(error instanceof ThreadHungError)) throw error;
      }
    }
  }

  async #runOn(
    thread: SearchThread,
    units: readonly WorkUnit[],
    limits: Pick<SearchTask, 'budget' | 'toPass'>,
  ): Promise<TaskResult> {
    const { number: search, share, spec } = this.#options;
    if (!this.#threads.has(thread)) {
      this.#threads.add(thread);
      thread.notify({ type: 'begin', search, share, spec, stop: this.#stop.shared, steal: this.#steal.shared });
    }
    const answer = thread.call({ search, units: packResults(units), ...limits });
    this.#answers.set(answer, thread);
    try {
      return await answer;
    } finally {
      this.#answers.delete(answer);
    }
  }

  /** Posts or withdraws a request that one worker hands back the rest of its task, so that others can work on it. */
  requestSteal(isWanted: boolean): void {
    this.#steal.post(isWanted);
  }

  /** Whether the search was told to stop. */
  get stopped(): boolean {
    return this.#stop.raised;
  }

  /** Makes all tasks answer soon with what they have. Those that do not are abandoned. */
  stop(): void {
    if (this.stopped) return;
    this.#stop.raise();
    this.#grace = setTimeout(this.#abandon, GRACE_MS);
  }

  [Symbol.dispose](): void {
    this.#stop.raise();
    clearTimeout(this.#grace);
    this.#options.slot[Symbol.dispose]();
    for (const [answer, thread] of this.#answers) this.#options.abandoned(thread, answer);
    for (const thread of this.#threads) thread.notify({ type: 'end', search: this.#options.number });
    this.#options.ended();
  }
}

/** Ends the tasks on a thread that is replaced because one of them holds it. */
class ThreadHungError extends Error {}
