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
  return rate !== undefined && takesToken(message) ? refusalOf(message, rate.take()) : undefined;
}

/** Does what `refuseByRate` does, with a token that is shared with other processes. */
export async function refuseBySharedRate(
  message: unknown,
  take: () => Promise<number>,
): Promise<RateRefusal | undefined> {
  return takesToken(message) ? refusalOf(message, await take()) : undefined;
}

interface RequestMessage {
  readonly id: unknown;
  readonly method: unknown;
}

function takesToken(message: unknown): message is RequestMessage {
  if (typeof message !== 'object' || message === null) return false;
  const { id, method } = message as Partial<RequestMessage>;
  return id !== undefined && method !== undefined && !EXEMPT.includes(method);
}

function refusalOf({ id }: RequestMessage, retryAfterSeconds: number): RateRefusal | undefined {
  if (retryAfterSeconds === 0) return undefined;
  return { id, retryAfterSeconds, message: `rate limit exceeded: retry in ${retryAfterSeconds} seconds` };
}
