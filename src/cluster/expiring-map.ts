/** From this many entries on, expired ones are looked for. */
const MANY = 1_024;
/** Bounds memory. Beyond this many, the entries that were set least recently are dropped before they expire. */
const MAX_ENTRIES = 100_000;

/** A bounded map whose entries expire. An expired entry is removed when it is looked up, or when many have been added. */
export class ExpiringMap<V> {
  readonly #entries = new Map<string, { value: V; expiresAt: number }>();
  #sweepAt = MANY;

  /** Returns a value that has not expired. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAt > performance.now()) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** Stores a value for a time. */
  set(key: string, value: V, ttlMs: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, expiresAt: performance.now() + ttlMs });
    if (this.#entries.size >= this.#sweepAt) this.#sweep();
  }

  /** Returns for how long a value stays; 0 if there is none. */
  ttl(key: string): number {
    return this.get(key) === undefined ? 0 : (this.#entries.get(key)?.expiresAt ?? 0) - performance.now();
  }

  /** Removes an entry. Returns false if there was none. */
  delete(key: string): boolean {
    return this.get(key) !== undefined && this.#entries.delete(key);
  }

  #sweep(): void {
    const now = performance.now();
    for (const [key, { expiresAt }] of this.#entries) if (expiresAt <= now) this.#entries.delete(key);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < MAX_ENTRIES) break;
      this.#entries.delete(oldest);
    }
    this.#sweepAt = Math.min(MAX_ENTRIES, Math.max(MANY, this.#entries.size * 2));
  }
}
