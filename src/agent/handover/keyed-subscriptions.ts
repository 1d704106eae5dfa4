/** Tells those who wait for something that it was handed over meanwhile, and keeps it for them should the cache let go of it. */
export class ArrivalWatches<T> {
  readonly #watches = new Map<string, Set<ArrivalWatch<T>>>();

  /** Watches for a key until it is disposed of. */
  watch(key: string): ArrivalWatch<T> {
    const watches = this.#watches.get(key) ?? new Set();
    this.#watches.set(key, watches);
    const watch = new ArrivalWatch<T>(() => {
      watches.delete(watch);
      if (watches.size === 0) this.#watches.delete(key);
    });
    watches.add(watch);
    return watch;
  }

  arrived(key: string, value: T): void {
    for (const watch of this.#watches.get(key) ?? []) watch.seen = value;
  }
}

class ArrivalWatch<T> implements Disposable {
  /** The last that arrived. */
  seen: T | undefined;
  readonly #end: () => void;

  constructor(end: () => void) {
    this.#end = end;
  }

  [Symbol.dispose](): void {
    this.#end();
  }
}
