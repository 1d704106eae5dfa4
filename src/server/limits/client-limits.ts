import type { FairPool } from './fair-pool.ts';
import type { TokenBucket } from './token-bucket.ts';

/** What limits the calls of one client. */
export interface ClientLimits {
  /** Names the client: by its token, else by its address. Never a secret. */
  readonly key: string;
  /** Limits how often it calls; undefined if nothing does. */
  readonly rate: TokenBucket | undefined;
  /** Limits how many of its calls run at once; undefined on stdio, which has one client. */
  readonly calls: FairPool | undefined;
}

/** The place of one running call in the pool of all. It is free while the call waits for an answer of its client. */
export class CallSlot {
  readonly #pool: FairPool;
  readonly #client: string;
  #state: 'held' | 'lent' | 'closed' = 'held';

  /** Takes over a place that was taken for a client. */
  constructor(pool: FairPool, client: string) {
    this.#pool = pool;
    this.#client = client;
  }

  /** Frees the place while the call waits for its client. */
  lend(): void {
    if (this.#state !== 'held') return;
    this.#state = 'lent';
    this.#pool.give(this.#client);
  }

  /** Takes the place back. Does not wait for one: a call that has begun has to end. */
  takeBack(): void {
    if (this.#state !== 'lent') return;
    this.#state = 'held';
    this.#pool.force(this.#client);
  }

  /** Frees the place for good. */
  close(): void {
    if (this.#state === 'held') this.#pool.give(this.#client);
    this.#state = 'closed';
  }
}
