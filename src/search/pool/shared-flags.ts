/** Tells all threads of a search to stop. Threads share the buffer; each wraps it in its own instance. */
export class StopFlag {
  readonly shared: SharedArrayBuffer;
  readonly #cell: Int32Array;

  constructor(shared = new SharedArrayBuffer(4)) {
    this.shared = shared;
    this.#cell = new Int32Array(shared);
  }

  /** Whether the search should stop. */
  get raised(): boolean {
    return Atomics.load(this.#cell, 0) !== 0;
  }

  /** Stops the search. This cannot be undone. */
  raise(): void {
    Atomics.store(this.#cell, 0, 1);
  }
}

/**
 * A request for work, posted while the queue is empty and some worker has no second task waiting. The first busy worker
 * that sees it hands back the rest of its task. This is receiver-initiated work stealing with private deques
 * (http://chargueraud.org/viewabs.php?sCode=2013%2Fppopp), a variant of Blumofe and Leiserson's work stealing
 * (https://doi.org/10.1145/324133.324234), except that the work goes back through the main thread, which keeps path
 * order.
 *
 * Threads share the buffer; each wraps it in its own instance.
 */
export class StealRequest {
  readonly shared: SharedArrayBuffer;
  readonly #cell: Int32Array;

  constructor(shared = new SharedArrayBuffer(4)) {
    this.shared = shared;
    this.#cell = new Int32Array(shared);
  }

  /** Posts or withdraws the request. */
  post(isWanted: boolean): void {
    Atomics.store(this.#cell, 0, isWanted ? 1 : 0);
  }

  /** Claims the request. Returns true for at most one caller each time it is posted. */
  tryClaim(): boolean {
    return Atomics.exchange(this.#cell, 0, 0) === 1;
  }
}
