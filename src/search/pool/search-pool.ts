import { availableParallelism } from 'node:os';
import { RingfenceError } from '../../errors.ts';
import type { SharedRoot } from '../../fence/index.ts';
import type { EntryResults } from '../task/entry-task.ts';
import type { LineResults } from '../task/line-collector.ts';
import { StopFlag } from '../task/stop-flag.ts';
import { type PackedResults, packResults, unpackResults, type WorkResult, type WorkUnit } from '../task/work-unit.ts';
import { StealRequest } from '../walk/steal-request.ts';
import type { GlobSpec, GrepSpec, SearchSpec } from './messages.ts';
import { WorkerThread } from './worker-thread.ts';

const MOST_WORKERS = 8;
/** After so long, the call that could have used help is over in most cases, and not held up by the start of a thread. */
const SOON_MS = 100;

/**
 * Worker threads for searches, which also look at the entries of large folders. They start when they are first needed and
 * stay; while idle they do not keep the process alive. A worker that crashes fails the searches it was part of and is
 * replaced.
 */
export class SearchPool {
  readonly size: number;
  readonly #threads: WorkerThread[] = [];
  #searches = 0;
  #closed = false;
  #soon: NodeJS.Timeout | undefined;

  constructor({ size = Math.min(availableParallelism(), MOST_WORKERS) }: { size?: number } = {}) {
    this.size = size;
  }

  /** Starts a search. Dispose of it when it is over. */
  begin(spec: GrepSpec): PooledSearch<LineResults>;
  begin(spec: GlobSpec): PooledSearch<EntryResults>;
  begin(spec: SearchSpec): PooledSearch<unknown> {
    if (this.#closed) throw new RingfenceError('cancelled', {});
    this.#searches += 1;
    return new PooledSearch({ number: this.#searches, spec, pick: () => this.#leastBusy() });
  }

  /** A worker that is not searching, to look at entries. Undefined if there is none; for this root there may be one the next time. */
  idleFor(root: SharedRoot): WorkerThread | undefined {
    if (this.#closed) return undefined;
    if (this.#threads.length === 0) this.#startSoon(root);
    return this.#idle();
  }

  /** Ends all workers; searches under way are `cancelled`. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#soon);
    await Promise.all(this.#threads.splice(0).map((thread) => thread.close()));
  }

  /** Whoever is idle; else work goes to those who are ready, and not to one that takes longer to start than to do it. */
  #leastBusy(): WorkerThread {
    if (this.#closed) throw new RingfenceError('cancelled', {});
    const idle = this.#idle();
    if (idle !== undefined) return idle;
    if (this.#threads.length < this.size) this.#start();
    const ready = this.#threads.filter((thread) => thread.isReady);
    const able = ready.length > 0 ? ready : this.#threads;
    return able.reduce((least, thread) => (thread.load < least.load ? thread : least));
  }

  /** One that has nothing to search, if possible one that could begin at once. */
  #idle(): WorkerThread | undefined {
    const idle = this.#threads.filter((thread) => thread.load === 0);
    return idle.find((thread) => thread.isReady) ?? idle[0];
  }

  /** Starts a worker for the next call about this root. */
  #startSoon(root: SharedRoot): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      if (this.#threads.length === 0) this.#start().tell({ type: 'know', root });
    }, SOON_MS).unref();
  }

  #start(): WorkerThread {
    const thread = new WorkerThread((ended) => {
      const at = this.#threads.indexOf(ended);
      if (at !== -1) this.#threads.splice(at, 1);
    });
    this.#threads.push(thread);
    return thread;
  }
}

interface PooledSearchOptions {
  readonly number: number;
  readonly spec: SearchSpec;
  pick(): WorkerThread;
}

/** One search on the pool. */
export class PooledSearch<F> implements Disposable {
  readonly #options: PooledSearchOptions;
  readonly #stop = new StopFlag();
  readonly #call = new StealRequest();
  readonly #threads = new Set<WorkerThread>();

  constructor(options: PooledSearchOptions) {
    this.#options = options;
  }

  /** Has stretches searched by the worker that has least to do, and returns what they turn into. */
  async run(units: readonly WorkUnit[], budget: number): Promise<WorkResult<F>[]> {
    const thread = this.#options.pick();
    const { number, spec } = this.#options;
    if (!this.#threads.has(thread)) {
      this.#threads.add(thread);
      thread.tell({ type: 'begin', search: number, spec, stop: this.#stop.shared, call: this.#call.shared });
    }
    const answer = await thread.ask(number, { units: packResults(units), budget });
    return unpackResults(answer as PackedResults<F>);
  }

  /** Whether one of the workers is to hand back what it has left, so that others can do some of it. */
  requestSteal(calls: boolean): void {
    this.#call.post(calls);
  }

  get stopped(): boolean {
    return this.#stop.raised;
  }

  /** Makes all its tasks answer soon, with what they have. */
  stop(): void {
    this.#stop.raise();
  }

  [Symbol.dispose](): void {
    this.stop();
    for (const thread of this.#threads) thread.tell({ type: 'end', search: this.#options.number });
  }
}
