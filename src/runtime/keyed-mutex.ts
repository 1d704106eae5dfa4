/**
 * A mutex per key. Work under the same key runs one after another in the order of the calls; work under different keys
 * runs concurrently. A key takes no memory while unused.
 *
 * It orders work within this process and thread only, and it is not reentrant.
 */
export class KeyedMutex {
  /** The last work queued under each key, which settles after all work before it. */
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Runs `work` after all earlier work under the same key has settled, whether it succeeded or failed. Resolves or
   * rejects as `work` does. Work that awaits other work under its own key deadlocks.
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
