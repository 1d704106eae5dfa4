/**
 * Asks the workers of a search for some of what they have, on behalf of one that has nothing. One of them answers: it hands back
 * what is left of its task. What is shared is the buffer; each thread wraps it anew.
 */
export class StealRequest {
  readonly shared: SharedArrayBuffer;
  readonly #cell: Int32Array;

  constructor(shared = new SharedArrayBuffer(4)) {
    this.shared = shared;
    this.#cell = new Int32Array(shared);
  }

  /** Calls, or no longer does. */
  post(calls: boolean): void {
    Atomics.store(this.#cell, 0, calls ? 1 : 0);
  }

  /** True for the one who is first to answer a call. */
  tryClaim(): boolean {
    return Atomics.exchange(this.#cell, 0, 0) === 1;
  }
}
