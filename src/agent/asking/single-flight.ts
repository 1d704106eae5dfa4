import { RingfenceError } from '../../errors.ts';
import { BridgeError } from '../bridge-error.ts';

interface Flight {
  readonly result: Promise<unknown>;
  /** Aborted when the last waiter stops waiting, or on a timeout. */
  readonly abort: AbortController;
  waiting: number;
}

interface Waiter {
  /** Calls with the same key share one flight. A call without a key gets its own. */
  readonly key: string | undefined;
  readonly signal: AbortSignal | undefined;
}

const MAX_FLIGHTS = 100;

/**
 * Deduplicates concurrent calls by key, like Go's `singleflight` (https://pkg.go.dev/golang.org/x/sync/singleflight). A
 * caller that aborts does not cancel the flight for the others; the flight is aborted when nobody waits for it any
 * more. Does not cache results. Raises `exhausted` for more than 100 flights at once.
 */
export class SingleFlight {
  readonly #shared = new Map<string, Flight>();
  #running = 0;

  /** How many flights are running. */
  get size(): number {
    return this.#running;
  }

  /**
   * Waits for the running flight with this key, or starts one with `ask`. Raises what `ask` raises, `cancelled` when
   * the caller's own signal is aborted, and `exhausted`.
   */
  async run<T>({ key, signal }: Waiter, ask: (abort: AbortController) => Promise<T>): Promise<T> {
    for (;;) {
      if (signal?.aborted) throw reasonOf(signal);
      const running = key === undefined ? undefined : this.#shared.get(key);
      if (running === undefined) return this.#wait(this.#start(key, ask), signal) as Promise<T>;
      try {
        return (await this.#wait(running, signal)) as T;
      } catch (error) {
        // An error outside the closed list, or the cancellation of the flight, belongs to the call that started it.
        // Start another.
        const isShared = error instanceof BridgeError && (error.code !== 'cancelled' || signal?.aborted === true);
        if (isShared) throw error;
      }
    }
  }

  #start(key: string | undefined, ask: (abort: AbortController) => Promise<unknown>): Flight {
    if (this.#running >= MAX_FLIGHTS) throw new BridgeError('exhausted', {});
    this.#running += 1;
    const abort = new AbortController();
    const result = ask(abort).finally(() => {
      this.#running -= 1;
      if (key !== undefined) this.#shared.delete(key);
    });
    // Waiters receive the rejection. Without any, it must not become an unhandled rejection.
    result.catch(() => {});
    const started = { result, abort, waiting: 0 };
    if (key !== undefined) this.#shared.set(key, started);
    return started;
  }

  async #wait(flight: Flight, signal: AbortSignal | undefined): Promise<unknown> {
    flight.waiting += 1;
    try {
      return await unlessAborted(flight.result, signal);
    } finally {
      flight.waiting -= 1;
      if (flight.waiting === 0) flight.abort.abort();
    }
  }
}

/**
 * Waits for a promise or for the signal to abort, whichever is first. Raises the signal's reason as a `BridgeError`, by
 * default `cancelled`.
 */
export async function unlessAborted<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return result;
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(reasonOf(signal));
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([aborted, result]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function reasonOf({ reason }: AbortSignal): BridgeError {
  return reason instanceof RingfenceError ? BridgeError.from(reason) : new BridgeError('cancelled', {});
}
