import { type SharedStore, StoreUnavailable, type TokenRate } from '../../cluster/shared-store.ts';
import type { RateLimitConfig } from '../../config/config.ts';

/** How often one client may call, from now on; undefined as often as it likes. */
interface CurrentLimit {
  current: RateLimitConfig | undefined;
}

/**
 * A {@link https://en.wikipedia.org/wiki/Token_bucket token bucket}: `burst` tokens at most, `callsPerSecond` new ones
 * a second. Without a limit there is always one.
 */
export class TokenBucket {
  readonly #limit: CurrentLimit;
  readonly #onRefusal: (() => void) | undefined;
  #tokens: number;
  #filledAt = performance.now();

  constructor(limit: CurrentLimit, onRefusal?: () => void) {
    this.#limit = limit;
    this.#onRefusal = onRefusal;
    this.#tokens = limit.current?.burst ?? 0;
  }

  /**
   * Takes a token and returns 0. If there is none, returns how many seconds it takes until there is one, rounded up to
   * tenths.
   */
  take(): number {
    const { current: limit } = this.#limit;
    if (limit === undefined) return 0;
    this.#fill(limit);
    if (this.#tokens < 1) {
      this.#onRefusal?.();
      return Math.ceil(((1 - this.#tokens) / limit.callsPerSecond) * 10) / 10;
    }
    this.#tokens -= 1;
    return 0;
  }

  /** Puts back a token that was taken for nothing. */
  putBack(): void {
    this.#tokens += 1;
  }

  /** Takes a token as `take` does, where tokens are shared with other processes; undefined where they are not. */
  takeShared?(): Promise<number>;

  get isFull(): boolean {
    const { current: limit } = this.#limit;
    if (limit === undefined) return true;
    this.#fill(limit);
    return this.#tokens >= limit.burst;
  }

  #fill({ callsPerSecond, burst }: RateLimitConfig): void {
    const now = performance.now();
    const added = ((now - this.#filledAt) / 1000) * callsPerSecond;
    this.#tokens = Math.min(burst, this.#tokens + added);
    this.#filledAt = now;
  }
}

/** What is shared of a bucket, and where. */
interface Share {
  readonly store: SharedStore;
  readonly key: string;
}

/**
 * A token bucket whose tokens all replicas take from one store. While the store is unavailable, each replica has a
 * bucket of its own.
 */
class SharedTokenBucket extends TokenBucket {
  readonly #limit: CurrentLimit;
  readonly #onRefusal: () => void;
  readonly #share: Share;

  constructor(limit: CurrentLimit, onRefusal: () => void, share: Share) {
    super(limit, onRefusal);
    this.#limit = limit;
    this.#onRefusal = onRefusal;
    this.#share = share;
  }

  override async takeShared(): Promise<number> {
    const { store, key } = this.#share;
    const rate = this.#rate();
    if (rate === undefined) return 0;
    try {
      const seconds = await store.takeTokens(key, rate, 1);
      if (seconds > 0) this.#onRefusal();
      return Math.ceil(seconds * 10) / 10;
    } catch (error) {
      if (error instanceof StoreUnavailable) return this.take();
      throw error;
    }
  }

  override putBack(): void {
    const { store, key } = this.#share;
    const rate = this.#rate();
    if (rate !== undefined) store.takeTokens(key, rate, -1).catch(() => super.putBack());
  }

  #rate(): TokenRate | undefined {
    const { current: limit } = this.#limit;
    return limit && { perSecond: limit.callsPerSecond, burst: limit.burst };
  }
}

/** From this many clients on, those whose buckets are full are forgotten. */
const MANY_CLIENTS = 4_096;

/** Limits how often each client may call. */
export class RateLimiter {
  readonly #limit: CurrentLimit;
  readonly #buckets = new Map<string, TokenBucket>();
  #sweepAt = MANY_CLIENTS;
  readonly #store: SharedStore | undefined;
  #refusals = 0;

  /** With a store, the calls of a client at all replicas count together. */
  constructor(limit: RateLimitConfig | undefined, store?: SharedStore) {
    this.#limit = { current: limit };
    this.#store = store;
  }

  /** Replaces the limit, also for clients that have a bucket already. */
  replace(limit: RateLimitConfig | undefined): void {
    this.#limit.current = limit;
  }

  /** How many calls and other requests came too soon. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Returns the bucket of a client. */
  of(client: string): TokenBucket {
    const found = this.#buckets.get(client);
    if (found !== undefined) return found;
    if (this.#buckets.size >= this.#sweepAt) this.#sweep();
    const bucket =
      this.#store === undefined
        ? this.ofProcess()
        : new SharedTokenBucket(this.#limit, this.#onRefusal, { store: this.#store, key: client });
    this.#buckets.set(client, bucket);
    return bucket;
  }

  /** Returns a bucket for a client that has only this process to call. */
  ofProcess(): TokenBucket {
    return new TokenBucket(this.#limit, this.#onRefusal);
  }

  readonly #onRefusal = (): void => {
    this.#refusals += 1;
  };

  /** Forgets full buckets: a new one is the same. */
  #sweep(): void {
    for (const [client, bucket] of this.#buckets) if (bucket.isFull) this.#buckets.delete(client);
    this.#sweepAt = Math.max(MANY_CLIENTS, 2 * this.#buckets.size);
  }
}
