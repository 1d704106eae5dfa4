/** Runs out after so long, not counting the time spent on what it is paused for. */
export class Clock {
  readonly #expire: () => void;
  #left: number;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #paused = 0;
  #stopped = false;

  constructor(milliseconds: number, expire: () => void) {
    this.#left = milliseconds;
    this.#expire = expire;
    this.#run();
  }

  async pauseFor<T>(work: Promise<T>): Promise<T> {
    this.#paused += 1;
    if (this.#paused === 1) {
      clearTimeout(this.#timer);
      this.#left -= performance.now() - this.#since;
    }
    try {
      return await work;
    } finally {
      this.#paused -= 1;
      if (this.#paused === 0 && !this.#stopped) this.#run();
    }
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #run(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(this.#expire, Math.max(0, this.#left));
  }
}
