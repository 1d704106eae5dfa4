import type { FairPool } from './fair-pool.ts';

/** What one request takes of the memory for all: its body, and its answer until the client has read it. */
export class HeldBytes {
  readonly #pool: FairPool;
  readonly #client: string;
  #bytes = 0;

  constructor(pool: FairPool, client: string) {
    this.#pool = pool;
    this.#client = client;
  }

  /** Takes more memory if there is as much for the client, and reports whether it did. */
  tryGrow(bytes: number): boolean {
    if (!this.#pool.tryTake(this.#client, bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Sets what is held, which is in use already. */
  set(bytes: number): void {
    if (bytes > this.#bytes) this.#pool.force(this.#client, bytes - this.#bytes);
    else if (bytes < this.#bytes) this.#pool.give(this.#client, this.#bytes - bytes);
    this.#bytes = bytes;
  }

  get size(): number {
    return this.#bytes;
  }
}
