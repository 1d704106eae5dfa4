import type { PostResponseQueue } from './post-response-queue.ts';

/**
 * Runs out after so long, not counting the time spent on what it is paused for. Most calls are over in the turn in which
 * they began, so a timer is set for those that are not.
 */
export class CallTimer {
  readonly #expire: () => void;
  #left: number;
  #since = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #paused = 0;
  #stopped = false;

  constructor(
    milliseconds: number,
    { expire, afterResponse }: { expire: () => void; afterResponse: PostResponseQueue },
  ) {
    this.#left = milliseconds;
    this.#expire = expire;
    afterResponse.add(() => this.#run());
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
