import type { OpenFile } from '../../fence/index.ts';
import { type LineReadContext, SparseLineIndex } from './sparse-line-index.ts';

/** Files below this size are not cached: counting their lines again is as fast as a lookup. */
const MIN_FILE_BYTES = 1024 * 1024;
const MAX_BYTES = 8 * 1024 * 1024;
/** The estimated size of an entry, besides its samples. */
const ENTRY_BYTES = 256;
/** Two changes within this time may leave the same timestamp: FAT stores times in steps of two seconds. */
const SETTLED_MS = 2_000;

/** Options of a `LineIndexCache`. */
export interface LineIndexOptions {
  /** The most bytes that all indexes together take in memory; by default 8 MiB. */
  readonly maxBytes?: number;
  /** How long a file must have been unchanged before its index is cached; by default two seconds. */
  readonly settledMs?: number;
}

/**
 * An LRU cache of the line indexes of large files, so that paging through a log reads it only once. A file is
 * identified by device and inode, and its content by size, mtime and ctime. If one of these differs, the whole file is
 * indexed again, even after an append: nothing proves that the rest is unchanged.
 */
export class LineIndexCache {
  readonly #maxBytes: number;
  readonly #settledMs: number;
  /** In order of use, the least recently used first. */
  readonly #entries = new Map<string, { readonly version: string; readonly index: SparseLineIndex }>();
  #bytes = 0;

  /** Creates an empty cache. */
  constructor({ maxBytes = MAX_BYTES, settledMs = SETTLED_MS }: LineIndexOptions = {}) {
    this.#maxBytes = maxBytes;
    this.#settledMs = settledMs;
  }

  /** The estimated memory in use, and the number of cached files. */
  get usage(): { bytes: number; files: number } {
    return { bytes: this.#bytes, files: this.#entries.size };
  }

  /**
   * Returns the line index of a file, from the cache if the file is unchanged. Raises what `fileChunks` raises.
   * @internal
   */
  async indexOf(work: LineReadContext & { file: OpenFile }): Promise<SparseLineIndex> {
    const { file } = work;
    if (file.stats.size < MIN_FILE_BYTES) return SparseLineIndex.of(work);
    const known = this.known(file);
    if (known !== undefined) return known;
    const key = keyOf(file);
    const version = versionOf(file.stats);
    this.#evict(key);
    const started = Date.now();
    const index = await SparseLineIndex.of(work);
    const { mtimeMs, ctimeMs } = file.stats;
    const settled = started - Math.max(mtimeMs, ctimeMs) >= this.#settledMs;
    if (settled && index.size === file.stats.size && versionOf(file.stat()) === version)
      this.#store(key, version, index);
    return index;
  }

  /** Returns the cached line index of a file, if it is unchanged since. @internal */
  known(file: OpenFile): SparseLineIndex | undefined {
    const key = keyOf(file);
    const entry = this.#entries.get(key);
    if (entry?.version !== versionOf(file.stats)) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.index;
  }

  #store(key: string, version: string, index: SparseLineIndex): void {
    this.#evict(key);
    this.#entries.set(key, { version, index });
    this.#bytes += index.bytes + ENTRY_BYTES;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#evict(oldest);
    }
  }

  #evict(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.index.bytes + ENTRY_BYTES;
  }
}

const keyOf = ({ stats }: OpenFile): string => `${stats.dev} ${stats.ino}`;

function versionOf({ size, mtimeMs, ctimeMs }: OpenFile['stats']): string {
  return `${size} ${mtimeMs} ${ctimeMs}`;
}
