/** From this many entries on, expired ones are looked for. */
const MANY = 1_024;
/** How many entries there are at most, unless another bound is given. */
const MAX_ENTRIES = 100_000;
/**
 * To what part of a bound the map shrinks once it is reached. Without this room, each further entry would begin a
 * search for expired ones.
 */
const KEPT = 7 / 8;

/** The bounds of an `ExpiringMap`. */
interface MapBounds {
  /** By default 100,000. */
  readonly maxEntries?: number;
  /** The greatest sum of the weights of all entries; by default any. */
  readonly maxWeight?: number;
}

interface Entry<V> {
  readonly value: V;
  readonly expiresAt: number;
  readonly weight: number;
}

/**
 * A bounded map whose entries expire. An expired entry is removed when it is looked up, or when many have been added.
 * At a bound, first expired entries are removed, then those that were set least recently, until an eighth is free.
 */
export class ExpiringMap<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #maxEntries: number;
  #maxWeight: number;
  #weight = 0;
  #sweepAt: number;

  constructor({ maxEntries = MAX_ENTRIES, maxWeight = Number.POSITIVE_INFINITY }: MapBounds = {}) {
    this.#maxEntries = maxEntries;
    this.#maxWeight = maxWeight;
    this.#sweepAt = Math.min(MANY, maxEntries);
  }

  /** Sets how much all entries may weigh, from the next one on. */
  limitWeight(maxWeight: number): void {
    this.#maxWeight = maxWeight;
  }

  /** Returns a value that has not expired. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAt > performance.now()) return entry.value;
    this.#remove(key);
    return undefined;
  }

  /** Stores a value for a time. It stays, whatever it weighs, until others are set. */
  set(key: string, value: V, ttlMs: number, weight = 0): void {
    this.#remove(key);
    this.#entries.set(key, { value, expiresAt: performance.now() + ttlMs, weight });
    this.#weight += weight;
    if (this.#entries.size >= this.#sweepAt || this.#weight > this.#maxWeight) this.#sweep(key);
  }

  /** Returns for how long a value stays; 0 if there is none. */
  ttl(key: string): number {
    return this.get(key) === undefined ? 0 : (this.#entries.get(key)?.expiresAt ?? 0) - performance.now();
  }

  /** Returns the keys of all values that have not expired. */
  keys(): string[] {
    return [...this.#entries.keys()].filter((key) => this.get(key) !== undefined);
  }

  /** Removes an entry. Returns false if there was none. */
  delete(key: string): boolean {
    return this.get(key) !== undefined && this.#remove(key);
  }

  #remove(key: string): boolean {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    return this.#entries.delete(key);
  }

  #sweep(latest: string): void {
    const now = performance.now();
    for (const [key, { expiresAt }] of this.#entries) if (expiresAt <= now) this.#remove(key);
    if (this.#entries.size >= this.#maxEntries) this.#trim(latest, () => this.#entries.size > this.#maxEntries * KEPT);
    if (this.#weight > this.#maxWeight) this.#trim(latest, () => this.#weight > this.#maxWeight * KEPT);
    this.#sweepAt = Math.min(this.#maxEntries, Math.max(MANY, this.#entries.size * 2));
  }

  /** Removes what was set least recently, but not the latest entry, as long as there is too much. */
  #trim(latest: string, isTooMuch: () => boolean): void {
    for (const oldest of this.#entries.keys()) {
      if (oldest === latest || !isTooMuch()) return;
      this.#remove(oldest);
    }
  }
}
