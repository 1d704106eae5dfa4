import type { PathInfo } from '../listing-entry.ts';
import { type Mtime, toMilliseconds } from '../mtime.ts';
import { ByteLru, type Evicted } from './byte-lru.ts';

export interface FileCacheOptions {
  /** The bytes of all contents together; a listing counts the bytes of its JSON. Paths and metadata are not counted. */
  readonly maxBytes: number;
  /** Empty files weigh nothing, so their number is limited too; 10,000 by default. */
  readonly maxEntries?: number | undefined;
  readonly now?: (() => number) | undefined;
}

export interface FileContent {
  /** Bytes of the file, or its text. */
  readonly content: Buffer | string;
  /** What text the bytes are, if known. */
  readonly encoding?: string | undefined;
  readonly mtime?: Mtime | undefined;
  /** As told by whoever has the file; the cache counts for itself. */
  readonly size?: number | undefined;
}

export interface CachedFile extends FileContent {
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly cachedAt: number;
}

/** What is known of a folder: its entries as they were told, nested where the folders in it were told too. */
export interface CachedListing {
  readonly entries: readonly PathInfo[];
  /** Asked for with all folders below it, whatever came back. */
  readonly recursive: boolean;
  readonly cachedAt: number;
}

export interface Stored {
  readonly status: 'created' | 'updated';
  readonly evicted: Evicted;
}

export interface CacheStats {
  /** Files and listings. */
  readonly entries: number;
  readonly listings: number;
  readonly bytes: number;
  readonly maxBytes: number;
  /** Of files, as all the following but evictions. */
  readonly hits: number;
  readonly misses: number;
  readonly updates: number;
  readonly evictions: number;
  readonly evictedBytes: number;
  /** Entries that were dropped because the file is newer. */
  readonly invalidations: number;
}

const DEFAULT_MAX_ENTRIES = 10_000;

type Held = { readonly file: CachedFile } | { readonly listing: CachedListing };

/**
 * Files by path, and listings, under one bound of bytes. `get` and `set` make an entry the most recently used; `has`,
 * `peek` and `stats` do not. Nothing is copied: whoever changes a buffer afterwards changes the cache.
 */
export class FileCache {
  readonly #held: ByteLru<Held>;
  readonly #now: () => number;
  readonly #counts = { hits: 0, misses: 0, updates: 0, evictions: 0, evictedBytes: 0, invalidations: 0 };

  constructor({ maxBytes, maxEntries = DEFAULT_MAX_ENTRIES, now = Date.now }: FileCacheOptions) {
    if (!(maxBytes >= 0)) throw new RangeError('maxBytes must be a number of bytes');
    this.#held = new ByteLru(maxBytes, maxEntries);
    this.#now = now;
  }

  get maxBytes(): number {
    return this.#held.maxBytes;
  }

  get bytes(): number {
    return this.#held.bytes;
  }

  /** Keeps a file. One that is larger than the whole cache is `too_large`, and an older one of that path stays. */
  set(path: string, content: FileContent): Stored {
    const file = this.#entry(path, content);
    this.#held.assertFits(file.bytes, { path });
    return this.#store(fileKey(path), { file }, file.bytes);
  }

  /** Keeps several files, all or none: together they must fit. What they replace makes room before anything else does. */
  setAll(files: readonly (FileContent & { readonly path: string })[]): Stored[] {
    const entries = files.map(({ path, ...content }) => this.#entry(path, content));
    const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#held.assertFits(total, {
      entries: entries.length,
      ...(entries.length === 1 && { path: files[0]?.path ?? '' }),
    });
    const known = entries.filter(({ path }) => this.delete(path));
    return entries.map((file) => this.#store(fileKey(file.path), { file }, file.bytes, known.includes(file)));
  }

  /** A file, unless it is not there or `mtime` is newer than what is kept (than the time of keeping, if its mtime is unknown). */
  get(path: string, { mtime }: { readonly mtime?: Mtime | undefined } = {}): CachedFile | undefined {
    if (mtime !== undefined) this.invalidate(path, mtime);
    const held = this.#held.get(fileKey(path));
    this.#counts[held === undefined ? 'misses' : 'hits'] += 1;
    return held !== undefined && 'file' in held ? held.file : undefined;
  }

  /** Has the last miss not count, because the same will be looked up once more. */
  takeBackMiss(): void {
    this.#counts.misses -= 1;
  }

  /** The same without counting as use, hit or miss. */
  peek(path: string): CachedFile | undefined {
    const held = this.#held.peek(fileKey(path));
    return held !== undefined && 'file' in held ? held.file : undefined;
  }

  has(path: string): boolean {
    return this.peek(path) !== undefined;
  }

  /** Drops a file that was changed since it was kept. */
  invalidate(path: string, mtime: Mtime): boolean {
    if (!this.isOlder(path, mtime)) return false;
    this.#counts.invalidations += 1;
    return this.delete(path);
  }

  /** Whether what is kept is from before that time; false if nothing is. */
  isOlder(path: string, mtime: Mtime): boolean {
    const file = this.peek(path);
    if (file === undefined) return false;
    return toMilliseconds(mtime) > (file.mtime === undefined ? file.cachedAt : toMilliseconds(file.mtime));
  }

  delete(path: string): boolean {
    return this.#held.delete(fileKey(path));
  }

  /** Keeps a listing under a name of its own. Listings count for the bound and for evictions, not for hits and misses. */
  setListing(key: string, entries: readonly PathInfo[], recursive: boolean): Stored {
    const listing = { entries, recursive, cachedAt: this.#now() };
    return this.#store(listingKey(key), { listing }, Buffer.byteLength(JSON.stringify(entries)));
  }

  getListing(key: string): CachedListing | undefined {
    const held = this.#held.get(listingKey(key));
    return held !== undefined && 'listing' in held ? held.listing : undefined;
  }

  /** The same without counting as use. */
  peekListing(key: string): CachedListing | undefined {
    const held = this.#held.peek(listingKey(key));
    return held !== undefined && 'listing' in held ? held.listing : undefined;
  }

  clear(): void {
    this.#held.clear();
  }

  /** The paths of the files kept, from the least to the most recently used. */
  paths(): string[] {
    return [...this.#held.keys()].filter((key) => key.startsWith(FILE)).map((key) => key.slice(FILE.length));
  }

  stats(): CacheStats {
    const { size, bytes, maxBytes } = this.#held;
    const listings = [...this.#held.keys()].filter((key) => key.startsWith(LISTING)).length;
    return { entries: size, listings, bytes, maxBytes, ...this.#counts };
  }

  #entry(path: string, content: FileContent): CachedFile {
    if (content.mtime !== undefined) toMilliseconds(content.mtime);
    return { path, ...content, bytes: Buffer.byteLength(content.content), cachedAt: this.#now() };
  }

  #store(key: string, held: Held, bytes: number, known = this.#held.peek(key) !== undefined): Stored {
    const evicted = this.#held.set(key, held, bytes);
    if (known && 'file' in held) this.#counts.updates += 1;
    this.#counts.evictions += evicted.entries;
    this.#counts.evictedBytes += evicted.bytes;
    return { status: known ? 'updated' : 'created', evicted };
  }
}

const FILE = 'f:';
const LISTING = 'l:';
const fileKey = (path: string): string => FILE + path;
const listingKey = (key: string): string => LISTING + key;
