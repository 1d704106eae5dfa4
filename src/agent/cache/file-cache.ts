import type { PathInfo } from '../listing-entry.ts';
import { type Mtime, toMilliseconds } from '../mtime.ts';
import { ByteLru, type Evicted } from './byte-lru.ts';

/** The limits of a `FileCache`. */
export interface FileCacheOptions {
  /**
   * The limit for all contents together. A listing counts as the bytes of its JSON. Paths and metadata are not counted.
   */
  readonly maxBytes: number;
  /** The limit on entries, because empty files count as zero bytes; 10,000 by default. */
  readonly maxEntries?: number | undefined;
  readonly now?: (() => number) | undefined;
}

/** A file to store in a `FileCache`. */
export interface CacheableFile {
  /** The file's bytes, or its text. */
  readonly content: Buffer | string;
  /** The text encoding of the bytes, if known. */
  readonly encoding?: string | undefined;
  readonly mtime?: Mtime | undefined;
  /** The size that the client stated. The cache does not rely on it. */
  readonly size?: number | undefined;
}

/** A file in a `FileCache`. */
export interface CachedFile extends CacheableFile {
  readonly path: string;
  /** The size of the content. */
  readonly bytes: number;
  /** When it was cached, in milliseconds since 1970. */
  readonly cachedAt: number;
}

/** A listing in the cache. Entries of nested folders are included where the client sent them. */
export interface CachedListing {
  readonly entries: readonly PathInfo[];
  /** Whether nested folders were asked for, regardless of what the client sent. */
  readonly recursive: boolean;
  readonly cachedAt: number;
}

/** The effect of storing an entry. */
export interface StoreResult {
  readonly status: 'created' | 'updated';
  readonly evicted: Evicted;
}

/** The contents of a cache and the counters since it was created. */
export interface CacheStats {
  /** The number of files and listings. */
  readonly entries: number;
  readonly listings: number;
  readonly bytes: number;
  readonly maxBytes: number;
  /** Lookups that found a file. Like misses, updates and invalidations, this does not count listings. */
  readonly hits: number;
  readonly misses: number;
  readonly updates: number;
  readonly evictions: number;
  readonly evictedBytes: number;
  /** Files dropped because a newer mtime was reported. */
  readonly invalidations: number;
}

const DEFAULT_MAX_ENTRIES = 10_000;

/** A file or a listing in a `FileCache`. */
export type CacheEntry = { readonly file: CachedFile } | { readonly listing: CachedListing };

/**
 * An LRU cache of files and listings with one limit on their bytes. `get` and `set` make an entry the most recently
 * used; `has`, `peek` and `stats` do not. Buffers are not copied: callers must not change them afterwards.
 */
export class FileCache {
  readonly #entries: ByteLru<CacheEntry>;
  readonly #now: () => number;
  readonly #counts = { hits: 0, misses: 0, updates: 0, evictions: 0, evictedBytes: 0, invalidations: 0 };

  constructor({ maxBytes, maxEntries = DEFAULT_MAX_ENTRIES, now = Date.now }: FileCacheOptions) {
    if (!(maxBytes >= 0)) throw new RangeError('maxBytes must be a number of bytes');
    this.#entries = new ByteLru(maxBytes, maxEntries);
    this.#now = now;
  }

  get maxBytes(): number {
    return this.#entries.maxBytes;
  }

  /** The number of files and listings. */
  get size(): number {
    return this.#entries.size;
  }

  /** The counters since it was created. */
  get counters(): Pick<CacheStats, 'hits' | 'misses' | 'evictions'> {
    return this.#counts;
  }

  get bytes(): number {
    return this.#entries.bytes;
  }

  /**
   * Stores a file and replaces the previous one of that path. Raises `too_large` for a file larger than the whole
   * cache, and `invalid_argument` for an invalid mtime; then nothing changes.
   */
  set(path: string, content: CacheableFile): StoreResult {
    const file = this.#entry(path, content);
    this.#entries.assertFits(file.bytes, { path });
    return this.#store(fileKey(path), { file }, file.bytes);
  }

  /**
   * Stores several files, all or none. Files that they replace are removed before any other is evicted. Raises
   * `too_large` if they do not fit together, and `invalid_argument` for too many files or an invalid mtime.
   */
  setAll(files: readonly (CacheableFile & { readonly path: string })[]): StoreResult[] {
    const entries = files.map(({ path, ...content }) => this.#entry(path, content));
    const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#entries.assertFits(total, {
      entries: entries.length,
      ...(entries.length === 1 && { path: files[0]?.path ?? '' }),
    });
    const known = new Set(entries.filter(({ path }) => this.delete(path)));
    return entries.map((file) => this.#store(fileKey(file.path), { file }, file.bytes, known.has(file)));
  }

  /**
   * Returns a file and counts a hit or a miss. With `mtime`, a cached file that is older (see `isOlder`) is dropped
   * first.
   */
  get(path: string, { mtime }: { readonly mtime?: Mtime | undefined } = {}): CachedFile | undefined {
    if (mtime !== undefined) this.invalidate(path, mtime);
    const entry = this.#entries.get(fileKey(path));
    this.#counts[entry === undefined ? 'misses' : 'hits'] += 1;
    return entry !== undefined && 'file' in entry ? entry.file : undefined;
  }

  /** Takes back the last miss, for a lookup that will be repeated. */
  uncountMiss(): void {
    this.#counts.misses -= 1;
  }

  /** Returns a file without making it the most recently used and without counting a hit or a miss. */
  peek(path: string): CachedFile | undefined {
    const entry = this.#entries.peek(fileKey(path));
    return entry !== undefined && 'file' in entry ? entry.file : undefined;
  }

  /** Whether a file is cached. */
  has(path: string): boolean {
    return this.peek(path) !== undefined;
  }

  /** Drops a file that is older than `mtime` (see `isOlder`). Returns whether one was dropped. */
  invalidate(path: string, mtime: Mtime): boolean {
    if (!this.isOlder(path, mtime)) return false;
    this.#counts.invalidations += 1;
    return this.delete(path);
  }

  /**
   * Whether the cached file's mtime, or the time it was cached if its mtime is unknown, is before `mtime`. False if it
   * is not cached.
   */
  isOlder(path: string, mtime: Mtime): boolean {
    const file = this.peek(path);
    if (file === undefined) return false;
    return toMilliseconds(mtime) > (file.mtime === undefined ? file.cachedAt : toMilliseconds(file.mtime));
  }

  /** Removes a file. Returns false if it was not cached. */
  delete(path: string): boolean {
    return this.#entries.delete(fileKey(path));
  }

  /**
   * Stores a listing; its keys are separate from file paths. Listings count towards the limits and evictions. Raises
   * `too_large`.
   */
  setListing(key: string, entries: readonly PathInfo[], recursive: boolean): StoreResult {
    const listing = { entries, recursive, cachedAt: this.#now() };
    return this.#store(listingKey(key), { listing }, listingBytes(entries));
  }

  /** Returns a listing and makes it the most recently used. */
  getListing(key: string): CachedListing | undefined {
    const entry = this.#entries.get(listingKey(key));
    return entry !== undefined && 'listing' in entry ? entry.listing : undefined;
  }

  /** Returns a listing without making it the most recently used. */
  peekListing(key: string): CachedListing | undefined {
    const entry = this.#entries.peek(listingKey(key));
    return entry !== undefined && 'listing' in entry ? entry.listing : undefined;
  }

  /** Returns all files and listings, from the least to the most recently used, by keys that only the cache understands. @internal */
  *entries(): IterableIterator<[key: string, entry: CacheEntry]> {
    for (const key of [...this.#entries.keys()]) {
      const entry = this.#entries.peek(key);
      if (entry !== undefined) yield [key, entry];
    }
  }

  /** Returns what `entries` has for a key. @internal */
  entry(key: string): CacheEntry | undefined {
    return this.#entries.peek(key);
  }

  /** Stores what `entries` of another cache returned, unless it is too large for this one. @internal */
  adopt(key: string, entry: CacheEntry): void {
    const bytes = 'file' in entry ? entry.file.bytes : listingBytes(entry.listing.entries);
    if (bytes <= this.maxBytes) this.#store(key, entry, bytes);
  }

  /** Removes what `entries` has for a key. */
  remove(key: string): void {
    this.#entries.delete(key);
  }

  /** Removes all files and listings; the counters stay. */
  clear(): void {
    this.#entries.clear();
  }

  /** Returns the paths of the cached files, from the least to the most recently used. */
  paths(): string[] {
    return [...this.#entries.keys()].filter((key) => key.startsWith(FILE)).map((key) => key.slice(FILE.length));
  }

  /** Returns the current size and counters. */
  stats(): CacheStats {
    const { size, bytes, maxBytes } = this.#entries;
    const listings = [...this.#entries.keys()].filter((key) => key.startsWith(LISTING)).length;
    return { entries: size, listings, bytes, maxBytes, ...this.#counts };
  }

  #entry(path: string, content: CacheableFile): CachedFile {
    if (content.mtime !== undefined) toMilliseconds(content.mtime);
    return { path, ...content, bytes: Buffer.byteLength(content.content), cachedAt: this.#now() };
  }

  #store(key: string, entry: CacheEntry, bytes: number, known = this.#entries.peek(key) !== undefined): StoreResult {
    const evicted = this.#entries.set(key, entry, bytes);
    if (known && 'file' in entry) this.#counts.updates += 1;
    this.#counts.evictions += evicted.entries;
    this.#counts.evictedBytes += evicted.bytes;
    return { status: known ? 'updated' : 'created', evicted };
  }
}

function listingBytes(entries: readonly PathInfo[]): number {
  return Buffer.byteLength(JSON.stringify(entries));
}

const FILE = 'f:';
const LISTING = 'l:';
const fileKey = (path: string): string => FILE + path;
const listingKey = (key: string): string => LISTING + key;

/** Returns the key that a listing was stored by, from what `FileCache.entries` calls it. */
export function listingName(key: string): string {
  return key.slice(LISTING.length);
}
