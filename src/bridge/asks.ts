import { RingfenceError } from '../errors.ts';
import { BridgeError } from './bridge-error.ts';

interface Ask {
  readonly result: Promise<unknown>;
  readonly abort: AbortController;
  waiting: number;
}

const MAX_ASKS = 100;

/**
 * Questions under way, by what they are about: whoever asks the same meanwhile waits for the same answer. One who stops
 * waiting does not take it from the others; when nobody waits, the question is aborted. More than 100 is `exhausted`.
 */
export class Asks {
  readonly #asks = new Map<string, Ask>();

  get size(): number {
    return this.#asks.size;
  }

  async share<T>(key: string, signal: AbortSignal | undefined, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (;;) {
      const under = this.#asks.get(key);
      if (under === undefined) return this.#wait(this.#start(key, ask), signal) as Promise<T>;
      try {
        return (await this.#wait(under, signal)) as T;
      } catch (error) {
        // What the asking itself threw, and that it was called off, is the first one's affair: the next asks anew.
        const own = error instanceof BridgeError && (error.code !== 'cancelled' || signal?.aborted === true);
        if (own) throw error;
      }
    }
  }

  /** Settles when the question is answered or given up; undefined if there is none. */
  answered(key: string): Promise<void> | undefined {
    const ignore = () => {};
    return this.#asks.get(key)?.result.then(ignore, ignore);
  }

  #start(key: string, ask: (signal: AbortSignal) => Promise<unknown>): Ask {
    if (this.#asks.size >= MAX_ASKS) throw new BridgeError('exhausted', {});
    const abort = new AbortController();
    const result = ask(abort.signal).finally(() => this.#asks.delete(key));
    // Those who wait hear of a failure; if nobody does any more, it is not one.
    result.catch(() => {});
    const started = { result, abort, waiting: 0 };
    this.#asks.set(key, started);
    return started;
  }

  async #wait(ask: Ask, signal: AbortSignal | undefined): Promise<unknown> {
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
  if (signal.aborted) throw reasonOf(signal);
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(reasonOf(signal));
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([result, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function reasonOf({ reason }: AbortSignal): BridgeError {
  return reason instanceof RingfenceError ? BridgeError.from(reason) : new BridgeError('cancelled', {});
}
