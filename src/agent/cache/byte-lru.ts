import { BridgeError } from '../bridge-error.ts';

export interface Evicted {
  readonly entries: number;
  readonly bytes: number;
}

interface Held<V> {
  readonly value: V;
  readonly bytes: number;
}

/**
 * A map that holds at most so many bytes, and so many entries, since empty ones weigh nothing. Whatever was neither
 * read nor written for longest makes room. An entry that could never fit is `too_large` and changes nothing.
 */
export class ByteLru<V> {
  readonly maxBytes: number;
  readonly maxEntries: number;
  /** A Map keeps the order of insertion, so whatever is used goes out and in again at its end. */
  readonly #held = new Map<string, Held<V>>();
  #bytes = 0;

  constructor(maxBytes: number, maxEntries: number) {
    this.maxBytes = maxBytes;
    this.maxEntries = maxEntries;
  }

  get size(): number {
    return this.#held.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Raises `too_large` for what could never be held together. */
  assertFits(bytes: number, { entries = 1, path }: { entries?: number; path?: string } = {}): void {
    if (bytes > this.maxBytes) throw new BridgeError('too_large', { size: bytes, limit: this.maxBytes }, { path });
    if (entries > this.maxEntries) {
      const problem = `files must not be more than ${this.maxEntries} at once`;
      throw new BridgeError('invalid_argument', { problem, argument: 'files' });
    }
  }

  set(key: string, value: V, bytes: number): Evicted {
    this.assertFits(bytes);
    this.delete(key);
    const before = { entries: this.size, bytes: this.#bytes };
    for (const oldest of this.#held.keys()) {
      if (this.#bytes + bytes <= this.maxBytes && this.size < this.maxEntries) break;
      this.delete(oldest);
    }
    const evicted = { entries: before.entries - this.size, bytes: before.bytes - this.#bytes };
    this.#held.set(key, { value, bytes });
    this.#bytes += bytes;
    return evicted;
  }

  get(key: string): V | undefined {
    const held = this.#held.get(key);
    if (held === undefined) return undefined;
    this.#held.delete(key);
    this.#held.set(key, held);
    return held.value;
  }

  /** Without counting as use. */
  peek(key: string): V | undefined {
    return this.#held.get(key)?.value;
  }

  delete(key: string): boolean {
    this.#bytes -= this.#held.get(key)?.bytes ?? 0;
    return this.#held.delete(key);
  }

  clear(): void {
    this.#held.clear();
    this.#bytes = 0;
  }

  /** From the one that would make room first. */
  keys(): IterableIterator<string> {
    return this.#held.keys();
  }
}
