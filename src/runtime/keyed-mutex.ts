/**
 * A mutex for each key: work under the same key runs one after another, in the order in which it was asked for. Work under
 * different keys runs at the same time. Keys that nobody uses take no memory.
 */
export class KeyedMutex {
  /** The last work that was asked for under each key; it settles when all work before it has. */
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Runs work once all work under the same key that was asked for before is over, whether that succeeded or failed. Resolves and
   * rejects as the work does. Work that waits for other work under its own key waits forever.
   */
  async runExclusive<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
