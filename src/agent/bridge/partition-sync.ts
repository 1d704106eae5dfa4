import { RingfenceError } from '../../errors.ts';
import { fromBlob, toBlob } from '../cache/entry-blob.ts';
import type { CacheEntry } from '../cache/file-cache.ts';
import type { ReceivedFile } from '../handover/handover.ts';
import type { FilesystemBridge } from './filesystem-bridge.ts';

/** Where the replicas of a server keep the files of one client, bounded in bytes, the least recently used first to go. */
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

const CHUNK = 'c:';
const chunkKey = ({ path, chunk }: ReceivedFile): string => `${CHUNK}${path}\0${chunk?.index}`;
const pathOfChunk = (key: string): string => key.slice(CHUNK.length, key.lastIndexOf('\0'));

/**
 * Synchronises a bridge with a store: `pull` before a call fetches what other replicas got from the client, `push` after
 * it stores what this one got. Both raise what the store raises, and leave the bridge usable.
 */
export class PartitionSync {
  readonly #bridge: FilesystemBridge;
  readonly #store: PartitionStore;
  readonly #synced = new Map<string, SyncedEntry>();
  /** Chunks that are not in the store yet. */
  readonly #chunks: ReceivedFile[] = [];
  /** The paths of files whose last chunk has arrived. */
  readonly #completed = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(bridge: FilesystemBridge, store: PartitionStore) {
    this.#bridge = bridge;
    this.#store = store;
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
    const list = await this.#store.list();
    // Nothing at all means that the store lost what it had. `push` brings it back.
    if (list.length === 0) this.#synced.clear();
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
      const key = chunkKey(file);
      const version = await this.#store.put(key, Buffer.from(JSON.stringify(file)));
      if (version !== undefined) this.#synced.set(key, { version });
    }
    for (const [key, { entry }] of this.#synced) {
      const isGone = entry === undefined ? this.#completed.has(pathOfChunk(key)) : !this.#bridge.cache.entry(key);
      if (!isGone) continue;
      await this.#store.delete(key);
      this.#synced.delete(key);
    }
    this.#completed.clear();
  }
}
