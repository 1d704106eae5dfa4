/** How long work may take in one turn of the event loop, and how long one that goes on may take of that, in milliseconds. */
const TURN_MS = 5;
const SLICE_MS = 3;
/** The same for a turn in which others are to be heard at once. */
const SHORT_TURN_MS = 1;
/** How many may begin in a turn before the first of them has shown how long it takes. */
const AT_ONCE = 16;

/**
 * Shares the thread among all that is done at the same time. In each turn of the event loop something that has begun goes on for
 * a while, and something new may begin while there is time, each in the order in which it came; the rest waits for the
 * next turn. So however many calls are under way, others are heard between turns, such as a question for the server's health.
 */
export class FairScheduler {
  readonly #new: (() => void)[] = [];
  readonly #old: (() => void)[] = [];
  /** When the time of this turn is over, and of what runs now. Undefined between turns. */
  #turnEnd: number | undefined;
  #sliceEnd = 0;
  #begun = 0;
  #hasty = false;

  /** To be awaited before something begins. Undefined if it may at once. */
  admit(): Promise<void> | undefined {
    if (this.#hasTime() && this.#new.length === 0 && this.#begun < AT_ONCE) {
      this.#begun += 1;
      return undefined;
    }
    return new Promise((resolve) => void this.#new.push(resolve));
  }

  /** To be awaited again and again by what takes long. Undefined if it may go on at once. */
  yieldTurn(): Promise<void> | undefined {
    return this.#hasTime() ? undefined : new Promise((resolve) => void this.#old.push(resolve));
  }

  /** Makes the next turn a short one. */
  shortenNextTurn(): void {
    this.#hasty = true;
  }

  #hasTime(): boolean {
    if (this.#turnEnd === undefined) this.#openTurn();
    return performance.now() < this.#sliceEnd;
  }

  #openTurn(): void {
    this.#turnEnd = performance.now() + (this.#hasty ? SHORT_TURN_MS : TURN_MS);
    this.#hasty = false;
    this.#sliceEnd = this.#turnEnd;
    this.#begun = 0;
    setImmediate(this.#nextTurn);
  }

  readonly #nextTurn = (): void => {
    this.#turnEnd = undefined;
    if (this.#old.length === 0 && this.#new.length === 0) return;
    this.#openTurn();
    this.#run(this.#old.shift() ?? this.#new.shift());
  };

  /** Lets one run until it waits for something, then the next. */
  #run(one: (() => void) | undefined): void {
    if (one === undefined) return;
    this.#sliceEnd = Math.min(this.#turnEnd ?? 0, performance.now() + SLICE_MS);
    one();
    // What it does at once is done in microtasks, and the next tick comes after the last of those.
    queueMicrotask(() => process.nextTick(this.#runNext));
  }

  readonly #runNext = (): void => {
    if (performance.now() < (this.#turnEnd ?? 0)) this.#run(this.#new.shift() ?? this.#old.shift());
  };
}
