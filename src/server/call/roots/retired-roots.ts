import type { RunningCalls } from '../running/running-calls.ts';

/**
 * How long a root stays open after the last call that may use it: a worker thread may still be on its way out of a
 * search that was stopped.
 */
const CLOSE_DELAY_MS = 1_000;

/** Roots that are not served any more, but may be in use by running calls. */
export class RetiredRoots {
  readonly #running: RunningCalls;
  readonly #open = new Set<Disposable>();

  constructor(running: RunningCalls) {
    this.#running = running;
  }

  /** Closes a root after the calls that run now. */
  add(root: Disposable): void {
    this.#open.add(root);
    void this.#running.presentEnded().then(() => setTimeout(() => this.#close(root), CLOSE_DELAY_MS).unref());
  }

  /** Closes all at once. */
  close(): void {
    for (const root of this.#open) this.#close(root);
  }

  #close(root: Disposable): void {
    if (this.#open.delete(root)) root[Symbol.dispose]();
  }
}
