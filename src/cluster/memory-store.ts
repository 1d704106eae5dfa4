import { ExpiringMap } from '../runtime/expiring-map.ts';
import { ChannelListeners, type Listener } from './channel-listeners.ts';
import {
  type BlobEntry,
  type BlobLimits,
  type LeaseGrant,
  NOTE_TTL_MS,
  type SetOptions,
  type SharedStore,
  type TokenRate,
  UNRELEASED_TTL_MS,
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
  /** The length of all of them. */
  bytes: number;
}

/** Options of a `MemoryStore`. */
interface MemoryStoreOptions {
  /**
   * How many bytes the blobs of all owners may take together; by default 1 GiB. Beyond that, the owners that were used
   * least recently lose theirs (LRU).
   */
  readonly maxBlobBytes?: number;
}

const MAX_BLOB_BYTES = 1024 ** 3;

/** A `SharedStore` in the memory of this process, for a single one or for the parent of several. Never unavailable. */
export class MemoryStore implements SharedStore {
  readonly #buckets = new ExpiringMap<Bucket>();
  readonly #values = new ExpiringMap<Buffer>();
  readonly #counters = new ExpiringMap<number>();
  readonly #blobs: ExpiringMap<OwnedBlobs>;
  readonly #leases = new ExpiringMap<number>();
  readonly #notes = new ExpiringMap<string>();
  /** Who was granted a lease and has not released it with a note, by lease. The note that is there is outdated. */
  readonly #unreleased = new ExpiringMap<string>();
  readonly #listeners = new ChannelListeners();
  /** Larger tokens than those of an earlier process: the clock gives the first, and each is larger than the last. */
  #lastToken = 0;

  constructor({ maxBlobBytes = MAX_BLOB_BYTES }: MemoryStoreOptions = {}) {
    this.#blobs = new ExpiringMap({ maxWeight: maxBlobBytes });
  }

  /** Sets how many bytes the blobs of all owners may take together, from the next one on. */
  limitBlobs(maxBlobBytes: number): void {
    this.#blobs.limitWeight(maxBlobBytes);
  }

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

  async set(key: string, value: string | Buffer, { ttlMs }: SetOptions): Promise<void> {
    this.#values.set(key, Buffer.from(value), ttlMs);
  }

  async increment(key: string, amount: number, ttlMs: number): Promise<number> {
    const value = (this.#counters.get(key) ?? 0) + amount;
    this.#counters.set(key, value, ttlMs);
    return value;
  }

  async putBlob(owner: string, key: string, blob: Buffer, limits: BlobLimits): Promise<string | undefined> {
    const { maxBytes, maxEntries, ttlMs } = limits;
    if (blob.length > maxBytes) return undefined;
    const blobs = this.#blobs.get(owner);
    const entries = blobs?.entries ?? new Map<string, StoredBlob>();
    let bytes = (blobs?.bytes ?? 0) - lengthOf(entries.get(key)) + blob.length;
    entries.delete(key);
    for (const [oldest, stored] of entries) {
      if (bytes <= maxBytes && entries.size < maxEntries) break;
      entries.delete(oldest);
      bytes -= lengthOf(stored);
    }
    const version = String(this.#nextToken());
    entries.set(key, { blob: Buffer.from(blob), version });
    this.#blobs.set(owner, { entries, ttlMs, bytes }, ttlMs, bytes);
    return version;
  }

  async getBlob(owner: string, key: string): Promise<Buffer | undefined> {
    const blobs = this.#blobs.get(owner);
    const found = blobs?.entries.get(key);
    if (blobs === undefined || found === undefined) return undefined;
    blobs.entries.delete(key);
    blobs.entries.set(key, found);
    this.#blobs.set(owner, blobs, blobs.ttlMs, blobs.bytes);
    return found.blob;
  }

  async listBlobs(owner: string): Promise<readonly BlobEntry[]> {
    return [...(this.#blobs.get(owner)?.entries ?? [])].map(([key, { version }]) => ({ key, version }));
  }

  async deleteBlobs(owner: string, key?: string): Promise<void> {
    const blobs = this.#blobs.get(owner);
    if (key === undefined || blobs === undefined) {
      this.#blobs.delete(owner);
      return;
    }
    blobs.bytes -= lengthOf(blobs.entries.get(key));
    blobs.entries.delete(key);
    this.#blobs.set(owner, blobs, this.#blobs.ttl(owner), blobs.bytes);
  }

  async publish(channel: string, message: string): Promise<number> {
    // A listener is never called before the publisher goes on, as with a store elsewhere.
    setImmediate(() => this.#listeners.deliver(channel, message));
    return this.#listeners.count(channel);
  }

  async subscribe(channel: string, listener: Listener): Promise<Unsubscribe> {
    const remove = this.#listeners.add(channel, listener);
    return async () => void remove();
  }

  async acquireLease(key: string, ttlMs: number, owner = ''): Promise<LeaseGrant> {
    const holder = this.#unreleased.get(key);
    if (this.#leases.get(key) !== undefined && (owner === '' || holder !== owner)) return { granted: false };
    const token = this.#nextToken();
    this.#leases.set(key, token, ttlMs);
    const note = holder === undefined ? this.#notes.get(key) : '';
    this.#unreleased.set(key, owner, UNRELEASED_TTL_MS);
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
      this.#unreleased.delete(key);
    }
    return this.#leases.delete(key);
  }

  async handOnLease(key: string, token: number, note: string, ttlMs: number): Promise<LeaseGrant> {
    const owner = this.#unreleased.get(key);
    return (await this.releaseLease(key, token, note)) ? this.acquireLease(key, ttlMs, owner) : { granted: false };
  }

  missing(): readonly string[] {
    return [];
  }

  onRestored(_listener: () => void): void {
    // A store in the memory of this process is never lost, so there is nothing to tell.
  }

  async close(): Promise<void> {
    this.#listeners.clear();
  }

  #nextToken(): number {
    this.#lastToken = Math.max(this.#lastToken + 1, Date.now() * 1000);
    return this.#lastToken;
  }
}

function lengthOf(stored: StoredBlob | undefined): number {
  return stored?.blob.length ?? 0;
}
