import { BridgeError } from '../bridge-error.ts';

/** What was evicted to make room. */
export interface Evicted {
  readonly entries: number;
  readonly bytes: number;
}

interface LruEntry<V> {
  readonly value: V;
  readonly bytes: number;
}

/**
 * A least recently used (LRU) cache bounded in bytes and in entries; the second bound is for entries of zero bytes. The
 * caller states the size of each value.
 */
export class ByteLru<V> {
  readonly maxBytes: number;
  readonly maxEntries: number;
  /** A Map iterates in insertion order, so reinserting an entry on use keeps the least recently used first. */
  readonly #entries = new Map<string, LruEntry<V>>();
  #bytes = 0;

  constructor(maxBytes: number, maxEntries: number) {
    this.maxBytes = maxBytes;
    this.maxEntries = maxEntries;
  }

  /** The number of entries. */
  get size(): number {
    return this.#entries.size;
  }

  /** The bytes of all entries. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Raises `too_large` for more bytes than the cache can hold, and `invalid_argument` for more entries. */
  assertFits(bytes: number, { entries = 1, path }: { entries?: number; path?: string } = {}): void {
    if (bytes > this.maxBytes) throw new BridgeError('too_large', { size: bytes, limit: this.maxBytes }, { path });
    if (entries > this.maxEntries) {
      const problem = `files must not be more than ${this.maxEntries} at once`;
      throw new BridgeError('invalid_argument', { problem, argument: 'files' });
    }
  }

  /**
   * Stores a value as the most recently used and evicts others to make room. Raises `too_large`, and then changes
   * nothing.
   */
  set(key: string, value: V, bytes: number): Evicted {
    this.assertFits(bytes);
    this.delete(key);
    const before = { entries: this.size, bytes: this.#bytes };
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes + bytes <= this.maxBytes && this.size < this.maxEntries) break;
      this.delete(oldest);
    }
    const evicted = { entries: before.entries - this.size, bytes: before.bytes - this.#bytes };
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    return evicted;
  }

  /** Returns a value and makes it the most recently used. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Returns a value without making it the most recently used. */
  peek(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Removes an entry. Returns false if there was none. */
  delete(key: string): boolean {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    return this.#entries.delete(key);
  }

  /** Removes all entries. */
  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  /** The keys, from the least to the most recently used. */
  keys(): IterableIterator<string> {
    return this.#entries.keys();
  }
}
