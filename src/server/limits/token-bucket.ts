import type { RateLimitConfig } from '../../config/config.ts';

/**
 * A {@link https://en.wikipedia.org/wiki/Token_bucket token bucket}: `burst` tokens at most, `callsPerSecond` new ones
 * a second.
 */
export class TokenBucket {
  readonly #limit: RateLimitConfig;
  #tokens: number;
  #filledAt = performance.now();

  constructor(limit: RateLimitConfig) {
    this.#limit = limit;
    this.#tokens = limit.burst;
  }

  /**
   * Takes a token and returns 0. If there is none, returns how many seconds it takes until there is one, rounded up to
   * tenths.
   */
  take(): number {
    this.#fill();
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) / this.#limit.callsPerSecond) * 10) / 10;
    this.#tokens -= 1;
    return 0;
  }

  /** Puts back a token that was taken for nothing. */
  putBack(): void {
    this.#tokens += 1;
  }

  get isFull(): boolean {
    this.#fill();
    return this.#tokens >= this.#limit.burst;
  }

  #fill(): void {
    const now = performance.now();
    const added = ((now - this.#filledAt) / 1000) * this.#limit.callsPerSecond;
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + added);
    this.#filledAt = now;
  }
}

/** From this many clients on, those whose buckets are full are forgotten. */
const MANY_CLIENTS = 4_096;

/** Limits how often each client may call. */
export class RateLimiter {
  readonly #limit: RateLimitConfig;
  readonly #buckets = new Map<string, TokenBucket>();
  #sweepAt = MANY_CLIENTS;

  constructor(limit: RateLimitConfig) {
    this.#limit = limit;
  }

  /** Returns the bucket of a client. */
  of(client: string): TokenBucket {
    const found = this.#buckets.get(client);
    if (found !== undefined) return found;
    if (this.#buckets.size >= this.#sweepAt) this.#sweep();
    const bucket = new TokenBucket(this.#limit);
    this.#buckets.set(client, bucket);
    return bucket;
  }

  /** Forgets full buckets: a new one is the same. */
  #sweep(): void {
    for (const [client, bucket] of this.#buckets) if (bucket.isFull) this.#buckets.delete(client);
    this.#sweepAt = Math.max(MANY_CLIENTS, 2 * this.#buckets.size);
  }
}
