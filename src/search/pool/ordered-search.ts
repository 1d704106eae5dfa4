import type { PooledSearch } from './search-pool.ts';
import { type QueueItem, WorkQueue } from './work-queue.ts';

/**
 * Tasks in progress per worker. With a second one queued, a worker does not idle between an answer and the next call.
 */
const TASKS_PER_WORKER = 2;

/**
 * Budget of the first task in estimated microseconds. Work is shared out after it only, because most searches have
 * ended by then.
 */
const FIRST_BUDGET = 3_000;
/** Budget of every other task, unless a steal request ends it early. */
const BUDGET = 16_000;

/** Maximum number of bytes of a large file in one task. */
const PART_BYTES = 4 * 1024 * 1024;

/** Maximum number of results that are held back because an earlier work unit is not finished. */
const MAX_BUFFERED = 4096;

interface OrderedSearchOptions<F> {
  readonly workers: number;
  /** Maximum total weight of results that are held back. */
  readonly maxBufferedWeight: number;
  weigh(found: F): number;
  /** Receives results in path order. Returns false when the result is full. */
  take(found: F): boolean;
  /**
   * Returns how many results are still to be left out at the beginning of a task, if that is known. `atFront` says that
   * nothing before the task is unfinished.
   */
  toPass?(atFront: boolean): number | undefined;
}

/** Why a search ended: everything was searched, there was more than may be returned, or it was stopped. */
export type SearchOutcome = 'complete' | 'full' | 'stopped';

/**
 * Runs one search on the pool. Tasks work on units in any order, and their results are delivered in path order. However
 * the work is distributed, what `take` receives is a prefix of the same sequence on every run.
 */
export class OrderedSearch<F> {
  readonly #search: PooledSearch<F>;
  readonly #options: OrderedSearchOptions<F>;
  readonly #queue = new WorkQueue<F>();
  #bufferedWeight = 0;
  #tasks = 0;
  #tasksDone = 0;
  #full = false;
  #error: unknown;
  #isOver = false;
  #end: () => void = () => {};

  constructor(search: PooledSearch<F>, options: OrderedSearchOptions<F>) {
    this.#search = search;
    this.#options = options;
  }

  /**
   * Resolves when the last task has ended, or a moment after the search was stopped. Rejects with the first error that
   * a task or `take` raises.
   */
  run(): Promise<SearchOutcome> {
    return new Promise((resolve, reject) => {
      this.#end = () => {
        this.#isOver = true;
        if (this.#error !== undefined) reject(this.#error);
        else if (this.#full) resolve('full');
        else if (this.#queue.isEmpty) resolve('complete');
        // A task ends early by itself if it finds more than a result can have.
        else resolve(this.#search.stopped ? 'stopped' : 'full');
      };
      void this.#search.abandoned.then(this.#end);
      this.#advance();
    });
  }

  #advance(): void {
    if (this.#isOver) return;
    if (!this.#search.stopped) this.#startTasks();
    if (this.#tasks === 0) this.#end();
  }

  #startTasks(): void {
    const { workers, maxBufferedWeight } = this.#options;
    const isSharing = this.#tasksDone > 0;
    for (let free = TASKS_PER_WORKER * workers - this.#tasks; free > 0; free -= 1) {
      const isFarAhead = this.#bufferedWeight > maxBufferedWeight || this.#queue.buffered > MAX_BUFFERED;
      const items = this.#queue.take({ bytes: PART_BYTES, atFront: isFarAhead, takers: isSharing ? free : 1 });
      if (items.length === 0) break;
      this.#tasks += 1;
      void this.#runTask(items).finally(() => {
        this.#tasks -= 1;
        this.#tasksDone += 1;
        this.#advance();
      });
    }
    this.#search.requestSteal(isSharing && this.#tasks <= workers && this.#queue.untaken === 0);
  }

  async #runTask(items: readonly QueueItem<F>[]): Promise<void> {
    const { weigh, toPass } = this.#options;
    try {
      const units = items.map(({ unit }) => unit).filter((unit) => unit !== undefined);
      const results = await this.#search.run(units, {
        budget: this.#tasksDone === 0 ? FIRST_BUDGET : BUDGET,
        toPass: toPass?.(this.#queue.isFirst(items[0])),
      });
      // The result was returned without waiting for this task.
      if (this.#isOver) return;
      this.#queue.replace(items, results);
      for (const result of results) if (result.kind === 'found') this.#bufferedWeight += weigh(result.found);
      this.#takeFound();
    } catch (error) {
      if (this.#isOver) return;
      this.#error ??= error;
      this.#search.stop();
    }
  }

  #takeFound(): void {
    const { weigh, take } = this.#options;
    if (this.#full || this.#error !== undefined) return;
    for (let found = this.#queue.shift(); found !== undefined; found = this.#queue.shift()) {
      this.#bufferedWeight -= weigh(found);
      if (take(found)) continue;
      this.#full = true;
      this.#search.stop();
      return;
    }
  }
}
