/** Tells all threads of a search to stop. What is shared is the buffer; each thread wraps it anew. */
export class StopFlag {
  readonly shared: SharedArrayBuffer;
  readonly #cell: Int32Array;

  constructor(shared = new SharedArrayBuffer(4)) {
    this.shared = shared;
    this.#cell = new Int32Array(shared);
  }

  get raised(): boolean {
    return Atomics.load(this.#cell, 0) !== 0;
  }

  raise(): void {
    Atomics.store(this.#cell, 0, 1);
  }
}
