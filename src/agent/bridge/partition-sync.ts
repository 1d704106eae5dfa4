import { RingfenceError } from '../../errors.ts';
import { fromBlob, toBlob } from '../cache/entry-blob.ts';
import type { CacheEntry } from '../cache/file-cache.ts';
import { CHUNK_TTL_MS } from '../handover/chunk-sets.ts';
import type { ReceivedFile } from '../handover/handover.ts';
import type { FilesystemBridge, FilesystemBridgeOptions } from './filesystem-bridge.ts';

/**
 * Where the replicas of a server keep the files of one client, bounded in bytes, the least recently used first to go.
 */
export interface PartitionStore {
  /** Returns the version of what was stored; undefined if it is too large. */
  put(key: string, blob: Buffer): Promise<string | undefined>;
  get(key: string): Promise<Buffer | undefined>;
  list(): Promise<readonly { readonly key: string; readonly version: string }[]>;
  /** Removes one entry, or all if no key is given. */
  delete(key?: string): Promise<void>;
}

/** What is the same here and in the store. */
interface SyncedEntry {
  readonly version: string;
  /** Undefined for a chunk. */
  readonly entry?: CacheEntry | undefined;
}

/** The clock of a bridge, and how long it keeps the chunks of a file that is not complete. */
type SyncOptions = Pick<FilesystemBridgeOptions, 'chunkTtlMs' | 'now'>;

/**
 * How often at most all files are stored again that the store has lost: one that is short of memory removes them again
 * and again to make room for those of other clients, and each call would bring them back.
 */
const RESTORE_MS = 60_000;

const CHUNK = 'c:';
/**
 * Is in the store when entries have been removed from it, so that an empty store is known from one that lost
 * everything. Replicas of an earlier version take it for a chunk without a path, which they refuse.
 */
const EMPTIED = { key: `${CHUNK}emptied`, blob: Buffer.from('{}') };
/**
 * The key of a chunk has the time at which it was stored. So a list says which chunks are old, and the removal of an
 * old one never meets a newer one of the same index.
 */
const chunkKey = ({ path, chunk }: ReceivedFile, now: number): string => `${CHUNK}${now}:${chunk?.index}:${path}`;

function parseChunkKey(key: string): { readonly storedAt: number; readonly path: string } {
  const [, storedAt, path = ''] = /^c:(\d+):\d+:(.*)$/s.exec(key) ?? [];
  return { storedAt: Number(storedAt), path };
}

const pathOfChunk = (key: string): string => parseChunkKey(key).path;

/**
 * Synchronises a bridge with a store: `pull` before a call fetches what other replicas got from the client, `push`
 * after it stores what this one got. Both raise what the store raises, and leave the bridge usable.
 */
export class PartitionSync {
  readonly #bridge: FilesystemBridge;
  readonly #store: PartitionStore;
  readonly #chunkTtlMs: number;
  readonly #now: () => number;
  readonly #synced = new Map<string, SyncedEntry>();
  /** Chunks that are not in the store yet. */
  readonly #chunks: ReceivedFile[] = [];
  /** The paths of files whose last chunk has arrived. */
  readonly #completed = new Set<string>();
  #restoredAt = Number.NEGATIVE_INFINITY;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    bridge: FilesystemBridge,
    store: PartitionStore,
    { chunkTtlMs = CHUNK_TTL_MS, now = Date.now }: SyncOptions = {},
  ) {
    this.#bridge = bridge;
    this.#store = store;
    this.#chunkTtlMs = chunkTtlMs;
    this.#now = now;
    bridge.onChunk = (file, complete) => {
      if (complete) this.#completed.add(file.path);
      else this.#chunks.push(file);
    };
  }

  /** Takes over what has changed in the store, removals included. */
  pull(): Promise<void> {
    return this.#inTurn(() => this.#pull());
  }

  /** Stores what has changed here. */
  push(): Promise<void> {
    return this.#inTurn(() => this.#push());
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => {});
    return mine;
  }

  async #pull(): Promise<void> {
    const stored = await this.#store.list();
    if (stored.length === 0) {
      this.#storeLostAll();
      return;
    }
    const entries = stored.filter(({ key }) => key !== EMPTIED.key);
    const forgotten = this.#forgottenChunks(entries.map(({ key }) => key));
    const list = entries.filter(({ key }) => !forgotten.has(key));
    const inStore = new Set(list.map(({ key }) => key));
    for (const [key, { entry }] of this.#synced) {
      if (inStore.has(key)) continue;
      this.#synced.delete(key);
      if (entry === undefined) this.#bridge.dropChunks(pathOfChunk(key));
      else if (this.#bridge.cache.entry(key) === entry) this.#bridge.cache.remove(key);
    }
    for (const { key, version } of list) {
      if (this.#synced.get(key)?.version === version) continue;
      const blob = await this.#store.get(key);
      if (blob !== undefined) this.#adopt(key, blob, version);
    }
    await this.#remove([...forgotten]);
  }

  /** Lets `push` store again what the store had. */
  #storeLostAll(): void {
    if (this.#synced.size === 0 || this.#now() - this.#restoredAt < RESTORE_MS) return;
    this.#restoredAt = this.#now();
    this.#synced.clear();
  }

  /** Returns the chunks of files of which no other chunk arrived within the time that incomplete files are kept. */
  #forgottenChunks(keys: readonly string[]): ReadonlySet<string> {
    const chunks = keys.filter((key) => key.startsWith(CHUNK)).map((key) => ({ key, ...parseChunkKey(key) }));
    const forgotten = new Set<string>();
    /** When the chunk arrived that keeps the one before it, by path. */
    const kept = new Map<string, number>();
    for (const { key, storedAt, path } of chunks.sort((a, b) => b.storedAt - a.storedAt)) {
      if ((kept.get(path) ?? this.#now()) - storedAt < this.#chunkTtlMs) kept.set(path, storedAt);
      else forgotten.add(key);
    }
    return forgotten;
  }

  #adopt(key: string, blob: Buffer, version: string): void {
    if (!key.startsWith(CHUNK)) {
      const entry = fromBlob(blob);
      this.#synced.set(key, { version, entry });
      this.#bridge.adopt(key, entry);
      return;
    }
    this.#synced.set(key, { version });
    try {
      if (this.#bridge.adoptChunk(JSON.parse(blob.toString()))) this.#completed.add(pathOfChunk(key));
    } catch (error) {
      // The call that brought a chunk that contradicts others was told so.
      if (!(error instanceof RingfenceError)) throw error;
    }
  }

  async #push(): Promise<void> {
    for (const [key, entry] of this.#bridge.cache.entries()) {
      if (this.#synced.get(key)?.entry === entry) continue;
      const version = await this.#store.put(key, toBlob(entry));
      if (version !== undefined) this.#synced.set(key, { version, entry });
    }
    for (const file of this.#chunks.splice(0)) {
      const key = chunkKey(file, this.#now());
      const version = await this.#store.put(key, Buffer.from(JSON.stringify(file)));
      if (version !== undefined) this.#synced.set(key, { version });
    }
    const gone = [...this.#synced].filter(([key, { entry }]) =>
      entry === undefined ? this.#completed.has(pathOfChunk(key)) : !this.#bridge.cache.entry(key),
    );
    await this.#remove(gone.map(([key]) => key));
    this.#completed.clear();
  }

  async #remove(keys: readonly string[]): Promise<void> {
    // Each time: what other replicas store meanwhile may evict it.
    if (keys.length > 0) await this.#store.put(EMPTIED.key, EMPTIED.blob);
    for (const key of keys) {
      await this.#store.delete(key);
      this.#synced.delete(key);
    }
  }
}
