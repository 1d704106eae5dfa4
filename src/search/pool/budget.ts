import type { StealRequest } from './shared-flags.ts';

/** Estimated microseconds between two points at which a task lets other searches run. */
const YIELD_INTERVAL = 250;
/** Real milliseconds between two such points, for steps that take longer than estimated. */
const YIELD_MS = 4;
/** Number of steps between two looks at the clock, which take a few percent of the time of a short step. */
const STEPS_PER_LOOK = 8;
/** Work that is done before a steal request is answered: sharing less costs more than doing it. */
const MIN_WORK = 1_000;

/**
 * Limits the work of one task. It counts estimated microseconds, not real time, so that the same work is done on every
 * run, and is spent early if another worker requests work. The owner asks `isSpent` between steps and hands back what
 * is left.
 */
export class Budget {
  readonly #steal: StealRequest;
  #left: number;
  #yieldAt: number;
  #yieldTime = performance.now() + YIELD_MS;
  #steps = 0;
  /** Remaining amount at which steal requests begin to be answered. */
  readonly #stealable: number;

  constructor(amount: number, steal: StealRequest) {
    this.#steal = steal;
    this.#left = amount;
    this.#yieldAt = amount - YIELD_INTERVAL;
    this.#stealable = amount - MIN_WORK;
  }

  /** Whether the task should hand back what is left. May claim a pending steal request, in which case it stays true. */
  isSpent(): boolean {
    if (this.#left > 0 && this.#left <= this.#stealable) this.#left = this.#steal.tryClaim() ? 0 : this.#left;
    return this.#left <= 0;
  }

  /** Charges an estimated number of microseconds. */
  spend(amount: number): void {
    this.#left -= amount;
  }

  /** Whether enough was spent since it last returned true to let other searches run. Called at every step. */
  shouldYield(): boolean {
    this.#steps += 1;
    if (this.#left > this.#yieldAt && !this.#isLate()) return false;
    this.#yieldAt = this.#left - YIELD_INTERVAL;
    return true;
  }

  #isLate(): boolean {
    if (this.#steps % STEPS_PER_LOOK !== 0) return false;
    const now = performance.now();
    if (now < this.#yieldTime) return false;
    this.#yieldTime = now + YIELD_MS;
    return true;
  }
}

/** Estimated microseconds of the steps of a search, besides those of walking (see `walkTree`). */
export const SEARCH_COST = {
  /** Cost of opening a file, and per byte read and searched. */
  file: 6,
  byte: 0.001,
  /** Cost of the stat of an entry that matched. */
  found: 3,
} as const;
