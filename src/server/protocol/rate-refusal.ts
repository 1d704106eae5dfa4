import type { TokenBucket } from '../limits/token-bucket.ts';

/**
 * Requests that take no token here: a call takes one when it runs, and a ping only asks whether the server is alive.
 */
const EXEMPT: readonly unknown[] = ['tools/call', 'ping'];

/** A request that comes too soon. */
export interface RateRefusal {
  /** The id of the request. */
  readonly id: unknown;
  readonly message: string;
  readonly retryAfterSeconds: number;
}

/**
 * Takes a token for a request that is not a call. Returns how to refuse it if there is none; undefined if it may be
 * answered, and for any other message.
 */
export function refuseByRate(message: unknown, rate: TokenBucket | undefined): RateRefusal | undefined {
  if (rate === undefined || typeof message !== 'object' || message === null) return undefined;
  const { id, method } = message as { readonly id?: unknown; readonly method?: unknown };
  if (id === undefined || method === undefined || EXEMPT.includes(method)) return undefined;
  const retryAfterSeconds = rate.take();
  if (retryAfterSeconds === 0) return undefined;
  return { id, retryAfterSeconds, message: `rate limit exceeded: retry in ${retryAfterSeconds} seconds` };
}
