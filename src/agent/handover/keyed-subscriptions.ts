/**
 * Publishes values by key to current subscribers. A subscription keeps the latest value, so that it stays available
 * after the cache has evicted it. Values published before `subscribe` are not seen.
 */
export class KeyedSubscriptions<T> {
  readonly #byKey = new Map<string, Set<Subscription<T>>>();

  /** Subscribes to a key until the subscription is disposed. */
  subscribe(key: string): Subscription<T> {
    const subscriptions = this.#byKey.get(key) ?? new Set();
    this.#byKey.set(key, subscriptions);
    const subscription = new Subscription<T>(() => {
      subscriptions.delete(subscription);
      if (subscriptions.size === 0) this.#byKey.delete(key);
    });
    subscriptions.add(subscription);
    return subscription;
  }

  /** Hands a value to every current subscriber of a key. */
  publish(key: string, value: T): void {
    for (const subscription of this.#byKey.get(key) ?? []) subscription.latest = value;
  }
}

class Subscription<T> implements Disposable {
  /** The value published last; undefined before the first. */
  latest: T | undefined;
  readonly #end: () => void;

  constructor(end: () => void) {
    this.#end = end;
  }

  [Symbol.dispose](): void {
    this.#end();
  }
}
