import { isFileError } from '../../files/errors.ts';
import { BridgeError } from '../bridge-error.ts';
import type { CachedFile, FileCache, Stored } from '../cache/file-cache.ts';
import { compileListingFilter, filterEntries, leftOut } from '../cache/listing-filter.ts';
import { Listings } from '../cache/listing-index.ts';
import type { PathInfo } from '../listing-entry.ts';
import type { Mtime } from '../mtime.ts';
import type { PathValidator } from '../policy/path-validator.ts';
import type { ListingQuestion } from '../sample.ts';
import { checkEntries } from './check-entries.ts';
import type { Chunk, ChunkSets } from './chunk-sets.ts';
import { assertHash, type FileBytes, type HandedFile, sha256, toBytes } from './handover-file.ts';
import { ArrivalWatches } from './keyed-subscriptions.ts';

export interface FileMetadata {
  /** As told, else as counted. */
  readonly size: number;
  readonly encoding?: string;
  readonly mtime?: Mtime;
}

/** A file that was taken in. */
export interface TakenFile extends Stored {
  /** The path relative to the project: the key in the cache. */
  readonly path: string;
  /** Of the bytes that came. */
  readonly size: number;
  /** SHA-256 of the bytes, in hex. */
  readonly contentHash: string;
  readonly metadata: FileMetadata;
  /** What looks odd but was no reason to refuse. */
  readonly warnings: readonly string[];
}

/** A file, or a piece of one. */
export interface ReceivedFile extends HandedFile {
  readonly chunk?: Chunk | undefined;
}

export type TakenChunk =
  | ({ readonly complete: true } & TakenFile)
  | { readonly complete: false; readonly path: string; readonly received: number; readonly total: number };

export interface TakenListing {
  readonly path: string;
  /** Entries that were accepted, nested ones included. */
  readonly count: number;
  /** How many of them are in the cache now. */
  readonly stored: number;
  /** What did not match the pattern and was left out. */
  readonly warnings: readonly string[];
}

interface HandoverParts {
  readonly validator: PathValidator;
  readonly cache: FileCache;
  readonly chunks: ChunkSets;
}

interface HandedListing {
  readonly entries: readonly PathInfo[];
  readonly pattern: string | undefined;
}

/** Takes in what is handed over: checks all of it first, then keeps all of it, and tells those who wait for it. */
export class Handover {
  readonly files = new ArrivalWatches<CachedFile>();
  readonly folders = new ArrivalWatches<HandedListing>();
  readonly listings: Listings;
  readonly #validator: PathValidator;
  readonly #cache: FileCache;
  readonly #chunks: ChunkSets;

  constructor({ validator, cache, chunks }: HandoverParts) {
    this.listings = new Listings(cache);
    this.#validator = validator;
    this.#cache = cache;
    this.#chunks = chunks;
  }

  cacheFiles(files: readonly HandedFile[]): TakenFile[] {
    const keys = this.#validator.validateAll(files.map(({ path }) => path));
    const twice = keys.find((key, i) => keys.indexOf(key) !== i);
    if (twice !== undefined)
      throw new BridgeError('invalid_argument', { problem: `files: ${twice} is there twice`, argument: 'files' });
    return this.take(files.map((file, i) => ({ ...file, ...verified(file), path: keys[i] ?? '' })));
  }

  receiveFile(file: ReceivedFile): TakenChunk {
    const path = this.#validator.validate(file.path);
    const { chunk } = file;
    if (chunk === undefined) return { complete: true, ...this.#takeOne({ ...file, ...verified(file), path }) };
    const known = this.#cache.peek(path);
    // Where the cache has let go of a file, its chunks come for the first time again.
    if (known === undefined) this.#chunks.dropComplete(path);
    const received = this.#chunks.receive(path, { ...file, chunk });
    if (received === 'known')
      return { complete: true, ...describe(known as CachedFile), status: 'updated', evicted: { entries: 0, bytes: 0 } };
    if (!('file' in received)) return { complete: false, path, ...received };
    try {
      return { complete: true, ...this.#takeOne({ ...file, ...received.file, path }, true) };
    } catch (error) {
      this.#chunks.drop(path);
      throw error;
    }
  }

  storeListing(path: string, entries: unknown, pattern: string | undefined): TakenListing {
    const matches = pattern === undefined ? () => true : compileListingFilter(pattern);
    const key = this.#validator.validate(path);
    const checked = checkEntries(entries, key, this.#validator);
    const kept = filterEntries(checked, matches);
    this.listings.keep({ path: key, pattern, recursive: kept.some(({ children }) => children !== undefined) }, kept);
    this.folders.arrived(key, { entries: kept, pattern });
    const count = countOf(kept);
    return { path: key, count, stored: count, warnings: leftOut(checked, kept) };
  }

  /** Keeps files whose paths and content are checked. */
  take(files: readonly (HandedFile & FileBytes)[], fromChunks = false): TakenFile[] {
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
      this.files.arrived(path, file);
      return { ...describe(file), ...one };
    });
  }

  /** Keeps a file that was asked for, unless it is larger than the cache: then it only passes through. */
  takeOrPass(file: HandedFile & FileBytes): CachedFile {
    const { path, bytes, encoding, mtime } = file;
    return (
      unlessTooLarge(() => {
        this.take([file]);
        return this.#cache.peek(path);
      }) ?? { path, content: bytes, encoding, mtime, bytes: bytes.length, cachedAt: 0 }
    );
  }

  /** The same for a listing. */
  keepOrPass(question: ListingQuestion, entries: readonly PathInfo[]): void {
    unlessTooLarge(() => this.listings.keep(question, entries));
  }

  #takeOne(file: HandedFile & FileBytes, fromChunks = false): TakenFile {
    return this.take([file], fromChunks)[0] as TakenFile;
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

function verified(file: HandedFile): FileBytes {
  const content = toBytes(file);
  if (file.sha256 !== undefined) assertHash(sha256(content.bytes), file.sha256, 'sha256');
  return content;
}

function describe({ path, content, bytes, encoding, mtime, size }: CachedFile): Omit<TakenFile, keyof Stored> {
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
