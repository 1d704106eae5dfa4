import { ExpiringMap } from './expiring-map.ts';
import {
  type BlobEntry,
  type BlobLimits,
  type LeaseAnswer,
  NOTE_TTL_MS,
  type SetOptions,
  type SharedStore,
  type TokenRate,
  type Unsubscribe,
} from './shared-store.ts';

interface Bucket {
  readonly tokens: number;
  readonly filledAt: number;
}

interface StoredBlob {
  readonly blob: Buffer;
  readonly version: string;
}

interface OwnedBlobs {
  /** From the least to the most recently used. */
  readonly entries: Map<string, StoredBlob>;
  readonly ttlMs: number;
}

type Listener = (message: string) => void;

/** A `SharedStore` in the memory of this process, for a single one or for the parent of several. Never unavailable. */
export class MemoryStore implements SharedStore {
  readonly #buckets = new ExpiringMap<Bucket>();
  readonly #values = new ExpiringMap<Buffer>();
  readonly #counters = new ExpiringMap<number>();
  readonly #blobs = new ExpiringMap<OwnedBlobs>();
  readonly #leases = new ExpiringMap<number>();
  readonly #notes = new ExpiringMap<string>();
  /** The leases whose notes are outdated: those that were granted since, and not released with a new one. */
  readonly #outdated = new ExpiringMap<true>();
  readonly #listeners = new Map<string, Set<Listener>>();
  /** Larger tokens than those of an earlier process: the clock gives the first, and each is larger than the last. */
  #lastToken = 0;

  async takeTokens(key: string, { perSecond, burst }: TokenRate, count: number): Promise<number> {
    const now = performance.now();
    const { tokens = burst, filledAt = now } = this.#buckets.get(key) ?? {};
    const filled = Math.min(burst, tokens + ((now - filledAt) / 1000) * perSecond);
    if (filled < count) return (count - filled) / perSecond;
    const left = Math.min(burst, filled - count);
    this.#buckets.set(key, { tokens: left, filledAt: now }, (burst / perSecond) * 1000 + 1000);
    return 0;
  }

  async get(key: string): Promise<Buffer | undefined> {
    return this.#values.get(key);
  }

  async set(key: string, value: string | Buffer, { ttlMs, ifAbsent = false }: SetOptions): Promise<boolean> {
    if (ifAbsent && this.#values.get(key) !== undefined) return false;
    this.#values.set(key, Buffer.from(value), ttlMs);
    return true;
  }

  async delete(key: string): Promise<boolean> {
    return this.#values.delete(key);
  }

  async increment(key: string, amount: number, ttlMs: number): Promise<number> {
    const value = (this.#counters.get(key) ?? 0) + amount;
    this.#counters.set(key, value, ttlMs);
    return value;
  }

  async putBlob(owner: string, key: string, blob: Buffer, limits: BlobLimits): Promise<string | undefined> {
    const { maxBytes, maxEntries, ttlMs } = limits;
    if (blob.length > maxBytes) return undefined;
    const { entries } = this.#blobs.get(owner) ?? { entries: new Map<string, StoredBlob>() };
    entries.delete(key);
    let bytes = [...entries.values()].reduce((sum, { blob: { length } }) => sum + length, blob.length);
    for (const [
      oldest,
      {
        blob: { length },
      },
    ] of entries) {
      if (bytes <= maxBytes && entries.size < maxEntries) break;
      entries.delete(oldest);
      bytes -= length;
    }
    const version = String(this.#nextToken());
    entries.set(key, { blob: Buffer.from(blob), version });
    this.#blobs.set(owner, { entries, ttlMs }, ttlMs);
    return version;
  }

  async getBlob(owner: string, key: string): Promise<Buffer | undefined> {
    const blobs = this.#blobs.get(owner);
    const found = blobs?.entries.get(key);
    if (blobs === undefined || found === undefined) return undefined;
    blobs.entries.delete(key);
    blobs.entries.set(key, found);
    this.#blobs.set(owner, blobs, blobs.ttlMs);
    return found.blob;
  }

  async listBlobs(owner: string): Promise<readonly BlobEntry[]> {
    return [...(this.#blobs.get(owner)?.entries ?? [])].map(([key, { version }]) => ({ key, version }));
  }

  async deleteBlobs(owner: string, key?: string): Promise<void> {
    if (key === undefined) this.#blobs.delete(owner);
    else this.#blobs.get(owner)?.entries.delete(key);
  }

  async publish(channel: string, message: string): Promise<number> {
    const listeners = this.#listeners.get(channel) ?? new Set();
    // A listener is never called before the publisher goes on, as with a store elsewhere.
    for (const listener of listeners) setImmediate(() => this.#deliver(channel, listener, message));
    return listeners.size;
  }

  async subscribe(channel: string, listener: Listener): Promise<Unsubscribe> {
    const listeners = this.#listeners.get(channel) ?? new Set();
    // The same function may be subscribed twice.
    const own: Listener = (message) => listener(message);
    this.#listeners.set(channel, listeners.add(own));
    return async () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#listeners.get(channel) === listeners) this.#listeners.delete(channel);
    };
  }

  async acquireLease(key: string, ttlMs: number): Promise<LeaseAnswer> {
    const expiresInMs = this.#leases.ttl(key);
    if (expiresInMs > 0) return { granted: false, expiresInMs };
    const token = this.#nextToken();
    this.#leases.set(key, token, ttlMs);
    const note = this.#outdated.get(key) ? '' : this.#notes.get(key);
    this.#outdated.set(key, true, NOTE_TTL_MS);
    return { granted: true, token, note };
  }

  async renewLease(key: string, token: number, ttlMs: number): Promise<boolean> {
    if (this.#leases.get(key) !== token) return false;
    this.#leases.set(key, token, ttlMs);
    return true;
  }

  async leaseNote(key: string): Promise<string | undefined> {
    return this.#notes.get(key);
  }

  async releaseLease(key: string, token: number, note?: string): Promise<boolean> {
    if (this.#leases.get(key) !== token) return false;
    if (note !== undefined) {
      this.#notes.set(key, note, NOTE_TTL_MS);
      this.#outdated.delete(key);
    }
    return this.#leases.delete(key);
  }

  missing(): readonly string[] {
    return [];
  }

  async close(): Promise<void> {
    this.#listeners.clear();
  }

  #deliver(channel: string, listener: Listener, message: string): void {
    if (this.#listeners.get(channel)?.has(listener)) listener(message);
  }

  #nextToken(): number {
    this.#lastToken = Math.max(this.#lastToken + 1, Date.now() * 1000);
    return this.#lastToken;
  }
}
