import type { PooledSearch } from './search-pool.ts';
import { type QueueItem, WorkQueue } from './work-queue.ts';

/** A second task lies ready at each worker, so that none waits for a message. */
const TASKS_PER_WORKER = 2;

/** How much is done in the first task, in microseconds, roughly. Only then is work shared out: most searches are over by then. */
const FIRST_BUDGET = 3_000;
/** How much is done in another, unless somebody has nothing to do before that. */
const BUDGET = 16_000;

/** How much of a large file is searched in one task. */
const PART_BYTES = 4 * 1024 * 1024;

/** How much may have been found behind something that takes long. */
const MAX_WAITING = 4096;

interface OrderedSearchOptions<F> {
  readonly workers: number;
  /** What finds may weigh that wait for something before them. */
  readonly maxWaitingWeight: number;
  weigh(found: F): number;
  /** Told of what was found in path order. False if that is more than enough. */
  take(found: F): boolean;
}

/** Why a search ended: it saw everything, there was more than may be returned, or it was told to stop. */
export type SearchOutcome = 'complete' | 'full' | 'stopped';

/**
 * Runs one search on the pool: workers take stretches of it in path order, and here what they find is put together in
 * that order. However the work falls among the workers, what is taken is a beginning of the same list.
 */
export class OrderedSearch<F> {
  readonly #search: PooledSearch<F>;
  readonly #options: OrderedSearchOptions<F>;
  readonly #agenda = new WorkQueue<F>();
  #waitingWeight = 0;
  #tasks = 0;
  #tasksDone = 0;
  #full = false;
  #error: unknown;
  #end: () => void = () => {};

  constructor(search: PooledSearch<F>, options: OrderedSearchOptions<F>) {
    this.#search = search;
    this.#options = options;
  }

  /** Returns when no task of it is left. Raises what a task or `take` raises. */
  run(): Promise<SearchOutcome> {
    return new Promise((resolve, reject) => {
      this.#end = () => {
        if (this.#error !== undefined) reject(this.#error);
        else if (this.#full) resolve('full');
        else resolve(this.#agenda.isEmpty ? 'complete' : 'stopped');
      };
      this.#advance();
    });
  }

  #advance(): void {
    if (!this.#search.stopped) this.#startTasks();
    if (this.#tasks === 0) this.#end();
  }

  #startTasks(): void {
    const { workers, maxWaitingWeight } = this.#options;
    const share = this.#tasksDone > 0;
    for (let free = TASKS_PER_WORKER * workers - this.#tasks; free > 0; free -= 1) {
      const farAhead = this.#waitingWeight > maxWaitingWeight || this.#agenda.buffered > MAX_WAITING;
      const items = this.#agenda.take({ bytes: PART_BYTES, atFront: farAhead, takers: share ? free : 1 });
      if (items.length === 0) break;
      this.#tasks += 1;
      void this.#do(items).finally(() => {
        this.#tasks -= 1;
        this.#tasksDone += 1;
        this.#advance();
      });
    }
    this.#search.requestSteal(share && this.#tasks <= workers && this.#agenda.untaken === 0);
  }

  async #do(items: readonly QueueItem<F>[]): Promise<void> {
    const { weigh } = this.#options;
    try {
      const units = items.map(({ unit }) => unit).filter((unit) => unit !== undefined);
      const results = await this.#search.run(units, this.#tasksDone === 0 ? FIRST_BUDGET : BUDGET);
      this.#agenda.replace(items, results);
      for (const result of results) if (result.kind === 'found') this.#waitingWeight += weigh(result.found);
      this.#takeFound();
    } catch (error) {
      this.#error ??= error;
      this.#search.stop();
    }
  }

  #takeFound(): void {
    const { weigh, take } = this.#options;
    if (this.#full || this.#error !== undefined) return;
    for (let found = this.#agenda.shift(); found !== undefined; found = this.#agenda.shift()) {
      this.#waitingWeight -= weigh(found);
      if (take(found)) continue;
      this.#full = true;
      this.#search.stop();
      return;
    }
  }
}
