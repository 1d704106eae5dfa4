import type { PooledSearch } from './pool/search-pool.ts';

/** Default maximum number of matches of grep and glob. */
export const DEFAULT_MAX_RESULTS = 1_000;
/** Default time limit of grep and glob. */
export const DEFAULT_TIMEOUT_SECONDS = 30;

/** Longest delay of a timer, see https://nodejs.org/api/timers.html#settimeoutcallback-delay-args. */
const MAX_MS = 2 ** 31 - 1;

/** Stops a search when its time runs out or its caller aborts the signal. Dispose of it when the search has ended. */
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
