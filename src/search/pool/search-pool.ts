import { availableParallelism } from 'node:os';
import { RingfenceError } from '../../errors.ts';
import type { SharedRoot } from '../../fence/index.ts';
import type { FoundEntries } from '../task/entry-task.ts';
import type { FoundLines } from '../task/line-collector.ts';
import { StopFlag } from '../task/stop-flag.ts';
import { type Packed, type Piece, pack, type Stretch, unpack } from '../task/work-unit.ts';
import { CallForWork } from '../walk/steal-request.ts';
import type { EntrySpec, LineSpec, SearchSpec } from './messages.ts';
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
  begin(spec: LineSpec): Search<FoundLines>;
  begin(spec: EntrySpec): Search<FoundEntries>;
  begin(spec: SearchSpec): Search<unknown> {
    if (this.#closed) throw new RingfenceError('cancelled', {});
    this.#searches += 1;
    return new Search({ number: this.#searches, spec, pick: () => this.#leastBusy() });
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

interface SearchOptions {
  readonly number: number;
  readonly spec: SearchSpec;
  pick(): WorkerThread;
}

/** One search on the pool. */
export class Search<F> implements Disposable {
  readonly #options: SearchOptions;
  readonly #stop = new StopFlag();
  readonly #call = new CallForWork();
  readonly #threads = new Set<WorkerThread>();

  constructor(options: SearchOptions) {
    this.#options = options;
  }

  /** Has stretches searched by the worker that has least to do, and returns what they turn into. */
  async run(stretches: readonly Stretch[], budget: number): Promise<Piece<F>[]> {
    const thread = this.#options.pick();
    const { number, spec } = this.#options;
    if (!this.#threads.has(thread)) {
      this.#threads.add(thread);
      thread.tell({ type: 'begin', search: number, spec, stop: this.#stop.shared, call: this.#call.shared });
    }
    const answer = await thread.ask(number, { stretches: pack(stretches), budget });
    return unpack(answer as Packed<F>);
  }

  /** Whether one of the workers is to hand back what it has left, so that others can do some of it. */
  callForWork(calls: boolean): void {
    this.#call.set(calls);
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
