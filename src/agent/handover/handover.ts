import { isFileError } from '../../files/errors.ts';
import { BridgeError } from '../bridge-error.ts';
import type { CachedFile, CacheEntry, FileCache, StoreResult } from '../cache/file-cache.ts';
import { compileListingFilter, describeExcluded, filterEntries } from '../cache/listing-filter.ts';
import { ListingIndex } from '../cache/listing-index.ts';
import type { PathInfo } from '../listing-entry.ts';
import type { Mtime } from '../mtime.ts';
import type { PathValidator } from '../policy/path-validator.ts';
import type { ListingQuestion } from '../sample.ts';
import { checkEntries } from './check-entries.ts';
import type { Chunk, ChunkSets } from './chunk-sets.ts';
import { assertHash, type FileBytes, type HandoverFile, sha256, toBytes } from './handover-file.ts';
import { KeyedSubscriptions } from './keyed-subscriptions.ts';

/** The metadata of a file that was handed over. */
export interface FileMetadata {
  /** The size that the client stated, else the number of bytes received. */
  readonly size: number;
  readonly encoding?: string;
  readonly mtime?: Mtime;
}

/** A file that was handed over and cached. */
export interface AcceptedFile extends StoreResult {
  /** The path relative to the project: the key in the cache. */
  readonly path: string;
  /** The number of bytes received. */
  readonly size: number;
  /** SHA-256 of the bytes, in hex. */
  readonly contentHash: string;
  readonly metadata: FileMetadata;
  /** Inconsistencies that did not cause a refusal, such as a wrong stated size. */
  readonly warnings: readonly string[];
}

/** A file, or one chunk of it. */
export interface ReceivedFile extends HandoverFile {
  readonly chunk?: Chunk | undefined;
}

/** The result of `receiveFile`: the cached file, or how many of its chunks have arrived. */
export type AcceptedChunk =
  | ({ readonly complete: true } & AcceptedFile)
  | { readonly complete: false; readonly path: string; readonly received: number; readonly total: number };

/** The result of `storeListing`. */
export interface AcceptedListing {
  readonly path: string;
  /** The number of accepted entries, nested ones included. */
  readonly count: number;
  /** How many of them are in the cache after the call. */
  readonly stored: number;
  /** One line per file that did not match the pattern. */
  readonly warnings: readonly string[];
}

interface HandoverParts {
  readonly validator: PathValidator;
  readonly cache: FileCache;
  readonly chunks: ChunkSets;
}

interface HandoverListing {
  readonly entries: readonly PathInfo[];
  readonly pattern: string | undefined;
}

/**
 * Validates files and listings that the client hands over, caches them, and publishes them to pending questions. Each
 * call is all or nothing: nothing is cached unless everything is valid.
 */
export class Handover {
  /** Publishes each cached file by its path. */
  readonly acceptedFiles = new KeyedSubscriptions<CachedFile>();
  /** Publishes each cached listing by its folder. */
  readonly acceptedListings = new KeyedSubscriptions<HandoverListing>();
  readonly listingIndex: ListingIndex;
  readonly #validator: PathValidator;
  readonly #cache: FileCache;
  readonly #chunks: ChunkSets;

  constructor({ validator, cache, chunks }: HandoverParts) {
    this.listingIndex = new ListingIndex(cache);
    this.#validator = validator;
    this.#cache = cache;
    this.#chunks = chunks;
  }

  /**
   * Caches whole files. Raises `path_not_allowed`, `invalid_argument` (duplicate path, wrong hash, invalid mtime),
   * `too_large`, `undecodable`, `unsupported_encoding` and `invalid_encoding`.
   */
  cacheFiles(files: readonly HandoverFile[]): AcceptedFile[] {
    const keys = this.#validator.validateAll(files.map(({ path }) => path));
    const known = new Set<string>();
    for (const key of keys) {
      if (known.has(key))
        throw new BridgeError('invalid_argument', { problem: `files: ${key} is there twice`, argument: 'files' });
      known.add(key);
    }
    const nameOf = (i: number): string => (files.length === 1 ? 'content' : `files.${i}.content`);
    return this.take(files.map((file, i) => ({ ...file, ...verified(file, nameOf(i)), path: keys[i] ?? '' })));
  }

  /**
   * Accepts a whole file or one chunk, and caches the file once it is complete. Chunks may arrive in any order and more
   * than once. Raises the codes of `cacheFiles`, and `invalid_argument` for a chunk that contradicts earlier ones.
   */
  receiveFile(file: ReceivedFile): AcceptedChunk {
    const path = this.#validator.validate(file.path);
    const { chunk } = file;
    if (chunk === undefined) return { complete: true, ...this.#takeOne({ ...file, ...verified(file), path }) };
    const known = this.#cache.peek(path);
    // After an eviction, repeated chunks must build the file again.
    if (known === undefined) this.#chunks.dropComplete(path);
    const received = this.#chunks.receive(path, { ...file, chunk });
    if (received === 'repeated')
      return { complete: true, ...describe(known as CachedFile), status: 'updated', evicted: { entries: 0, bytes: 0 } };
    if (!('file' in received)) return { complete: false, path, ...received };
    try {
      return { complete: true, ...this.#takeOne({ ...file, ...received.file, path }, true) };
    } catch (error) {
      this.#chunks.drop(path);
      throw error;
    }
  }

  /**
   * Checks and caches the entries of a folder, reduced to those that match `pattern`. Raises `path_not_allowed`,
   * `invalid_argument`, `invalid_pattern` and `too_large`.
   */
  storeListing(path: string, entries: unknown, pattern: string | undefined): AcceptedListing {
    const matches = pattern === undefined ? undefined : compileListingFilter(pattern);
    const key = this.#validator.validate(path);
    const checked = checkEntries(entries, key, this.#validator);
    const kept = matches === undefined ? checked : filterEntries(checked, matches);
    this.listingIndex.keep(
      { path: key, pattern, recursive: kept.some(({ children }) => children !== undefined) },
      kept,
    );
    this.acceptedListings.publish(key, { entries: kept, pattern });
    const count = countOf(kept);
    return { path: key, count, stored: count, warnings: matches === undefined ? [] : describeExcluded(checked, kept) };
  }

  /**
   * Caches files whose paths and contents are already validated. Raises `too_large`, and `invalid_argument` for an
   * invalid mtime.
   */
  take(files: readonly (HandoverFile & FileBytes)[], fromChunks = false): AcceptedFile[] {
    const contents = files.map(({ path, bytes, encoding, mtime, size }) => ({
      path,
      content: bytes,
      ...(encoding !== undefined && { encoding }),
      ...(mtime !== undefined && { mtime }),
      ...(size !== undefined && { size }),
    }));
    const stored = this.#cache.setAll(contents);
    return stored.map((one, i) => {
      const path = files[i]?.path ?? '';
      const file = this.#cache.peek(path) as CachedFile;
      if (!fromChunks) this.#chunks.drop(path);
      this.acceptedFiles.publish(path, file);
      return { ...describe(file), ...one };
    });
  }

  /**
   * Caches a file that was asked for and returns it. A file larger than the whole cache is returned without being
   * cached.
   */
  cacheFileIfFits(file: HandoverFile & FileBytes): CachedFile {
    const { path, bytes, encoding, mtime } = file;
    return (
      unlessTooLarge(() => {
        this.take([file]);
        return this.#cache.peek(path);
      }) ?? { path, content: bytes, encoding, mtime, bytes: bytes.length, cachedAt: 0 }
    );
  }

  /** Caches a listing that was asked for, unless it is larger than the whole cache. */
  cacheListingIfFits(question: ListingQuestion, entries: readonly PathInfo[]): void {
    unlessTooLarge(() => this.listingIndex.keep(question, entries));
  }

  /** Publishes what was cached without being handed over here, by its key in the cache. */
  announce(key: string, entry: CacheEntry): void {
    if ('file' in entry) {
      this.acceptedFiles.publish(entry.file.path, entry.file);
      return;
    }
    const { path, pattern } = this.listingIndex.describe(key);
    this.acceptedListings.publish(path, { entries: entry.listing.entries, pattern });
  }

  #takeOne(file: HandoverFile & FileBytes, fromChunks = false): AcceptedFile {
    return this.take([file], fromChunks)[0] as AcceptedFile;
  }
}

function unlessTooLarge<T>(keep: () => T): T | undefined {
  try {
    return keep();
  } catch (error) {
    if (isFileError(error, 'too_large')) return undefined;
    throw error;
  }
}

function verified(file: HandoverFile, argument?: string): FileBytes {
  const content = toBytes(file, undefined, argument);
  if (file.sha256 !== undefined) assertHash(sha256(content.bytes), file.sha256, 'sha256');
  return content;
}

function describe({ path, content, bytes, encoding, mtime, size }: CachedFile): Omit<AcceptedFile, keyof StoreResult> {
  const warnings =
    size === undefined || size === bytes
      ? []
      : [`${path}: the size is given as ${size}, but the content has ${bytes} bytes`];
  return {
    path,
    size: bytes,
    contentHash: sha256(Buffer.from(content as Buffer)),
    metadata: {
      size: size ?? bytes,
      ...(encoding !== undefined && { encoding }),
      ...(mtime !== undefined && { mtime }),
    },
    warnings,
  };
}

function countOf(entries: readonly PathInfo[]): number {
  return entries.reduce((sum, { children = [] }) => sum + 1 + countOf(children), 0);
}
