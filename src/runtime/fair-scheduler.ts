/** Time budget in milliseconds of one turn of the event loop. */
const TURN_MS = 5;
/** Time budget in milliseconds of one resumed task within a turn. */
const SLICE_MS = 3;
/** Time budget in milliseconds of a turn after `shortenNextTurn`. */
const SHORT_TURN_MS = 1;
/**
 * Upper bound on tasks admitted in one turn without waiting, since their cost is unknown until the first of them has
 * run.
 */
const MAX_ADMITTED_PER_TURN = 16;

/**
 * Cooperative time-slicing scheduler for all calls that share the main thread. Each turn of the event loop resumes one
 * waiting task for at most 3 ms and admits new tasks until 5 ms have passed, both in first-in, first-out order; the
 * rest waits for the next turn. Between turns the event loop handles I/O, so that requests such as `/health` are
 * answered however many calls are running.
 *
 * It is not preemptive: a task that does not call `yieldTurn` holds the thread.
 */
export class FairScheduler {
  readonly #arriving: (() => void)[] = [];
  readonly #yielded: (() => void)[] = [];
  /**
   * End of the current turn and of the current slice, as `performance.now()` times. `#turnEnd` is undefined between
   * turns.
   */
  #turnEnd: number | undefined;
  #sliceEnd = 0;
  #begun = 0;
  #shortenNext = false;

  /** Asks to begin a task. Returns undefined if it may begin at once, otherwise a promise to await first. */
  admit(): Promise<void> | undefined {
    if (this.#hasTime() && this.#arriving.length === 0 && this.#begun < MAX_ADMITTED_PER_TURN) {
      this.#begun += 1;
      return undefined;
    }
    return new Promise((resolve) => void this.#arriving.push(resolve));
  }

  /**
   * Asks to continue a long task; call it between steps. Returns undefined if the task may continue at once, otherwise
   * a promise to await first.
   */
  yieldTurn(): Promise<void> | undefined {
    return this.#hasTime() ? undefined : new Promise((resolve) => void this.#yielded.push(resolve));
  }

  /** Limits the next turn to 1 ms, so that pending I/O is handled soon. */
  shortenNextTurn(): void {
    this.#shortenNext = true;
  }

  #hasTime(): boolean {
    if (this.#turnEnd === undefined) this.#openTurn();
    return performance.now() < this.#sliceEnd;
  }

  #openTurn(): void {
    this.#turnEnd = performance.now() + (this.#shortenNext ? SHORT_TURN_MS : TURN_MS);
    this.#shortenNext = false;
    this.#sliceEnd = this.#turnEnd;
    this.#begun = 0;
    setImmediate(this.#nextTurn);
  }

  readonly #nextTurn = (): void => {
    this.#turnEnd = undefined;
    if (this.#yielded.length === 0 && this.#arriving.length === 0) return;
    this.#openTurn();
    this.#run(this.#yielded.shift() ?? this.#arriving.shift());
  };

  /** Resumes one task until it awaits something, then the next one. */
  #run(one: (() => void) | undefined): void {
    if (one === undefined) return;
    this.#sliceEnd = Math.min(this.#turnEnd ?? 0, performance.now() + SLICE_MS);
    one();
    // The resumed task runs in microtasks; `nextTick` runs after the last of them.
    queueMicrotask(() => process.nextTick(this.#runNext));
  }

  readonly #runNext = (): void => {
    if (performance.now() < (this.#turnEnd ?? 0)) this.#run(this.#arriving.shift() ?? this.#yielded.shift());
  };
}
