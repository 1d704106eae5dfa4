interface CallTimerOptions {
  /** Called when the time is over. */
  expire(): void;
  /** Runs work after this turn of the event loop. */
  defer(work: () => void): void;
}

/**
 * Limits the time of a call, not counting the time for which it is paused. Most calls end in the turn of the event loop in which
 * they began; only for others is a timer of the system set, which costs more than the call.
 */
export class CallTimer {
  readonly #expire: () => void;
  #left: number;
  #since = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #paused = 0;
  #stopped = false;

  constructor(milliseconds: number, { expire, defer }: CallTimerOptions) {
    this.#left = milliseconds;
    this.#expire = expire;
    defer(() => this.#run());
  }

  async pauseFor<T>(work: Promise<T>): Promise<T> {
    this.#paused += 1;
    if (this.#paused === 1) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#left -= performance.now() - this.#since;
    }
    try {
      return await work;
    } finally {
      this.#paused -= 1;
      if (this.#paused === 0) {
        this.#since = performance.now();
        this.#run();
      }
    }
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #run(): void {
    if (this.#stopped || this.#paused > 0) return;
    const passed = performance.now() - this.#since;
    this.#timer ??= setTimeout(this.#expire, Math.max(0, this.#left - passed));
  }
}
