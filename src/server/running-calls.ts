import { RingfenceError } from '../errors.ts';

/** The calls under way, so that a shutdown can wait for them and stop those that take too long. */
export class RunningCalls {
  readonly #running = new Set<AbortController>();
  #whenIdle: (() => void)[] = [];

  get size(): number {
    return this.#running.size;
  }

  start(): AbortController {
    const call = new AbortController();
    this.#running.add(call);
    return call;
  }

  end(call: AbortController): void {
    this.#running.delete(call);
    if (this.#running.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Waits for all calls, at most so long; then cancels the rest and gives them a moment to stop. Tells how many those were. */
  async drain(milliseconds: number, momentMs = 500): Promise<number> {
    await this.#idle(milliseconds);
    const late = this.#running.size;
    for (const call of this.#running) call.abort(new RingfenceError('cancelled', {}));
    await this.#idle(momentMs);
    return late;
  }

  async #idle(milliseconds: number): Promise<void> {
    if (this.#running.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#whenIdle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
