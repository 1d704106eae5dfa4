import type { PooledSearch } from './pool/search-pool.ts';

/** The longest time a timer can be set to. */
const MAX_MS = 2 ** 31 - 1;

/** Stops a search when its time is over or its caller gives up. Dispose of it when the search is over. */
export class Deadline implements Disposable {
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignal;
  readonly #stop: () => void;

  constructor(search: Pick<PooledSearch<unknown>, 'stop'>, signal: AbortSignal, seconds: number) {
    this.#stop = () => search.stop();
    this.#timer = setTimeout(this.#stop, Math.min(seconds * 1000, MAX_MS));
    this.#signal = signal;
    signal.addEventListener('abort', this.#stop);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#stop);
  }
}
