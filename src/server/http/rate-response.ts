import type { TokenBucket } from '../limits/token-bucket.ts';
import { type RateRefusal, refuseByRate, refuseBySharedRate } from '../protocol/rate-refusal.ts';
import type { HttpError } from './sdk-response.ts';

/** Takes tokens for the requests of a body that are not calls. Returns how to refuse it if there are not enough. */
export function rateRefusal(body: unknown, rate: TokenBucket): HttpError | undefined {
  for (const message of Array.isArray(body) ? body : [body]) {
    const refusal = refuseByRate(message, rate);
    if (refusal !== undefined) return tooSoon(refusal, body);
  }
  return undefined;
}

/** Does what `rateRefusal` does, with tokens that are shared with other replicas. */
export async function sharedRefusal(body: unknown, rate: TokenBucket): Promise<HttpError | undefined> {
  const take = async (): Promise<number> => rate.takeShared?.() ?? 0;
  for (const message of Array.isArray(body) ? body : [body]) {
    const refusal = await refuseBySharedRate(message, take);
    if (refusal !== undefined) return tooSoon(refusal, body);
  }
  return undefined;
}

function tooSoon({ id, message, retryAfterSeconds }: RateRefusal, body: unknown): HttpError {
  const headers = { 'retry-after': String(Math.ceil(retryAfterSeconds)) };
  return { status: 429, message, id: Array.isArray(body) ? null : id, headers };
}
