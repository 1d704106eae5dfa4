import { RingfenceError } from '../../errors.ts';
import { BridgeError } from '../bridge-error.ts';

interface Flight {
  readonly result: Promise<unknown>;
  /** Aborted when the question is given up. */
  readonly abort: AbortController;
  waiting: number;
}

interface Waiter {
  /** What the question is about: the same question is put once. Undefined for one that is nobody else's. */
  readonly key: string | undefined;
  readonly signal: AbortSignal | undefined;
}

const MAX_ASKS = 100;

/**
 * Questions under way: whoever asks the same meanwhile waits for the same answer. One who stops waiting does not take it
 * from the others; when nobody waits any more, the question is aborted. More than 100 at once is `exhausted`.
 */
export class SingleFlight {
  readonly #shared = new Map<string, Flight>();
  #running = 0;

  get size(): number {
    return this.#running;
  }

  async run<T>({ key, signal }: Waiter, ask: (abort: AbortController) => Promise<T>): Promise<T> {
    for (;;) {
      if (signal?.aborted) throw reasonOf(signal);
      const under = key === undefined ? undefined : this.#shared.get(key);
      if (under === undefined) return this.#wait(this.#start(key, ask), signal) as Promise<T>;
      try {
        return (await this.#wait(under, signal)) as T;
      } catch (error) {
        // What the asking itself threw, or that it was called off, is the first one's affair: the next asks anew.
        const mine = error instanceof BridgeError && (error.code !== 'cancelled' || signal?.aborted === true);
        if (mine) throw error;
      }
    }
  }

  #start(key: string | undefined, ask: (abort: AbortController) => Promise<unknown>): Flight {
    if (this.#running >= MAX_ASKS) throw new BridgeError('exhausted', {});
    this.#running += 1;
    const abort = new AbortController();
    const result = ask(abort).finally(() => {
      this.#running -= 1;
      if (key !== undefined) this.#shared.delete(key);
    });
    // Those who wait hear of a failure; if nobody does any more, it is not one.
    result.catch(() => {});
    const started = { result, abort, waiting: 0 };
    if (key !== undefined) this.#shared.set(key, started);
    return started;
  }

  async #wait(ask: Flight, signal: AbortSignal | undefined): Promise<unknown> {
    ask.waiting += 1;
    try {
      return await unlessAborted(ask.result, signal);
    } finally {
      ask.waiting -= 1;
      if (ask.waiting === 0) ask.abort.abort();
    }
  }
}

/** The result, or what the signal was aborted with (`cancelled` by default), whichever is first. */
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
