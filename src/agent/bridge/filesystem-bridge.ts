import { RingfenceError } from '../../errors.ts';
import { Fetcher } from '../asking/fetcher.ts';
import { BridgeError } from '../bridge-error.ts';
import type { CachedFile, CacheEntry, CacheStats, FileCache } from '../cache/file-cache.ts';
import { compileListingFilter, filterEntries } from '../cache/listing-filter.ts';
import { ChunkSets } from '../handover/chunk-sets.ts';
import {
  type AcceptedChunk,
  type AcceptedFile,
  type AcceptedListing,
  Handover,
  type ReceivedFile,
} from '../handover/handover.ts';
import type { HandoverFile } from '../handover/handover-file.ts';
import type { PathInfo } from '../listing-entry.ts';
import type { Mtime } from '../mtime.ts';
import { PathValidator } from '../policy/path-validator.ts';
import type { SecurityPolicy } from '../policy/security-policy.ts';
import type { Sample } from '../sample.ts';
import { assertEncoding, decodeBytes, decodeFirst, encodeText } from '../text-encoding.ts';
import { type BridgeAudit, type BridgeOperation, errorFieldsOf } from './bridge-event.ts';

/** The options of a `FilesystemBridge`. */
export interface FilesystemBridgeOptions {
  readonly policy: SecurityPolicy;
  readonly cache: FileCache;
  /** The name that the client is told for these files, where it hands over those of several roots. */
  readonly rootName?: string | undefined;
  /** Asks the client for files, unless a call brings its own. Without either, only cached files can be read. */
  readonly sample?: Sample | undefined;
  /** How long to wait for an answer; 30 seconds by default. */
  readonly timeoutMs?: number | undefined;
  /** The token limit of an answer; 16,384 by default. */
  readonly maxTokens?: number | undefined;
  /** How long an incomplete set of chunks is kept; 5 minutes by default. */
  readonly chunkTtlMs?: number | undefined;
  /** Called after every operation, including refused ones. */
  readonly audit?: BridgeAudit | undefined;
  /** Called after an operation that may have added to the cache. */
  readonly onGrowth?: (() => void) | undefined;
  /** The clock, in milliseconds since 1970; `Date.now` by default. */
  readonly now?: (() => number) | undefined;
}

/** How to ask the client during one call. */
export interface AskOptions {
  /** Asks the client instead of the bridge's own `sample`. */
  readonly sample?: Sample | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** How to read a file. */
export interface BridgeReadOptions extends AskOptions {
  /** The encoding to assume if the client did not state one; utf-8 by default. */
  readonly encoding?: string | undefined;
  /** Encodings to try in turn if `encoding` does not decode the bytes. */
  readonly fallbackEncodings?: readonly string[] | undefined;
  /** Returns bytes instead of text. */
  readonly binary?: boolean | undefined;
}

/** How to list a folder. */
export interface BridgeListOptions extends AskOptions {
  /** Includes the entries of all nested folders as `children`. */
  readonly recursive?: boolean | undefined;
  /** A glob. Without a slash it matches names, with one it matches paths relative to the listed folder. */
  readonly pattern?: string | undefined;
}

/** A file that was read, with its metadata. */
export interface FileRead {
  /** The path relative to the project root. */
  readonly path: string;
  readonly bytes: Buffer;
  /** The text encoding that the client stated, if any. */
  readonly encoding: string | undefined;
  readonly mtime: Mtime | undefined;
  /** Whether the file was in the cache, so that the client was not asked. */
  readonly cached: boolean;
}

/** The state of a bridge: its cache, pending questions and incomplete files. */
export interface BridgeStats extends CacheStats {
  /** How many questions are pending. */
  readonly asking: number;
  /** How many files are missing chunks. */
  readonly chunkSets: number;
  readonly chunkBytes: number;
}

const TIMEOUT_MS = 30_000;
const MAX_TOKENS = 16_384;

/**
 * Reads files on the client's side: asks for them through `sample` when needed, and caches them within a byte limit.
 * Never asks for or accepts a path that the policy refuses. Does not notice changes on the client's side, unless a
 * newer listing reports them.
 *
 * Every expected failure is a `BridgeError`; a refused path is a `SecurityError` (`path_not_allowed`). Any other error
 * that `sample` throws passes through unchanged.
 */
export class FilesystemBridge {
  readonly policy: SecurityPolicy;
  readonly cache: FileCache;
  /** Called for each chunk that is received, and whether it was the last of its file; by default nothing is. */
  onChunk: ((file: ReceivedFile, complete: boolean) => void) | undefined;
  readonly #validator: PathValidator;
  readonly #chunks: ChunkSets;
  readonly #handover: Handover;
  readonly #fetcher: Fetcher;
  readonly #sample: Sample | undefined;
  readonly #audit: BridgeAudit;
  readonly #onGrowth: () => void;
  readonly #now: () => number;

  constructor(options: FilesystemBridgeOptions) {
    const { policy, cache, now = Date.now, timeoutMs = TIMEOUT_MS, maxTokens = MAX_TOKENS } = options;
    this.policy = policy;
    this.cache = cache;
    const validator = new PathValidator(policy);
    this.#validator = validator;
    this.#chunks = new ChunkSets({ maxBytes: cache.maxBytes, ttlMs: options.chunkTtlMs, now });
    this.#handover = new Handover({ validator, cache, chunks: this.#chunks });
    this.#fetcher = new Fetcher({
      validator,
      handover: this.#handover,
      timeoutMs,
      maxTokens,
      rootName: options.rootName,
    });
    this.#sample = options.sample;
    this.#audit = options.audit ?? (() => {});
    this.#onGrowth = options.onGrowth ?? (() => {});
    this.#now = now;
  }

  /**
   * Reads a file as text, or as bytes with `binary`. Raises `path_not_allowed`, `unsupported_encoding`, `undecodable`,
   * `sampling_unsupported`, `timed_out`, `cancelled`, `exhausted`, `bad_answer`, `not_found`, `is_directory` and
   * `permission_denied`.
   */
  readFile(path: string, options: BridgeReadOptions & { readonly binary: true }): Promise<Buffer>;
  readFile(path: string, options?: BridgeReadOptions & { readonly binary?: false | undefined }): Promise<string>;
  readFile(path: string, options?: BridgeReadOptions): Promise<string | Buffer>;
  readFile(path: string, options: BridgeReadOptions = {}): Promise<string | Buffer> {
    return this.#audited<string | Buffer>('read_file', path, async () => {
      const { bytes, encoding, path: key, cached } = await this.#read(path, options);
      // A copy: the caller may change it, and the cache holds the original.
      if (options.binary === true) return { value: Buffer.from(bytes), cached };
      const encodings = [encoding, options.encoding ?? 'utf-8', ...(options.fallbackEncodings ?? [])];
      return {
        value: decodeFirst(
          bytes,
          [...new Set(encodings)].filter((name) => name !== undefined),
          key,
        ),
        cached,
      };
    });
  }

  /**
   * Reads a file as bytes, with its metadata. The buffer is shared with the cache and must not be changed. Raises the
   * codes of `readFile`.
   */
  readBytes(path: string, options: BridgeReadOptions = {}): Promise<FileRead> {
    return this.#audited('read_file', path, async () => {
      const value = await this.#read(path, options);
      return { value, cached: value.cached };
    });
  }

  /**
   * Returns a file from the cache, with its text if it decodes; undefined if it is not cached. Never asks the client.
   * Raises `path_not_allowed`.
   */
  cached(path: string): (FileRead & { readonly text: string | undefined }) | undefined {
    return this.#auditedNow('read_cached', [path], () => {
      const file = this.#lookUp(this.#validator.validate(path));
      const read = file && toRead(file, true);
      return read && { ...read, text: decodeBytes(read.bytes, read.encoding ?? 'utf-8') };
    });
  }

  /**
   * Describes a file or folder from the cache; undefined if it is unknown. Never asks the client. Raises
   * `path_not_allowed`.
   */
  info(path: string): PathInfo | undefined {
    const key = this.#validator.validate(path);
    const listed = this.#handover.listingIndex.info(key);
    const file = this.cache.peek(key);
    if (file === undefined || (listed?.mtime !== undefined && this.cache.isOlder(key, listed.mtime))) return listed;
    const { bytes, mtime = listed?.mtime } = file;
    return { name: nameOf(key), path: key, type: 'file', size: bytes, ...(mtime !== undefined && { mtime }) };
  }

  /**
   * Lists a folder, with nested folders if `recursive`. Raises `path_not_allowed`, `invalid_pattern`,
   * `sampling_unsupported`, `timed_out`, `cancelled`, `exhausted`, `bad_answer`, `not_found`, `is_directory` and
   * `permission_denied`.
   */
  listDirectory(path: string, options: BridgeListOptions = {}): Promise<PathInfo[]> {
    return this.#audited('list_directory', path, async () => {
      const { recursive = false, pattern } = options;
      const matches = pattern === undefined ? () => true : compileListingFilter(pattern);
      const question = { path: this.#validator.validate(path), recursive, pattern };
      const known = this.#handover.listingIndex.find(question);
      const entries = known ?? (await this.#fetcher.folder(question, this.#asking(options, question.path)));
      if (known === undefined) this.#onGrowth();
      const value = filterEntries(recursive ? entries : entries.map(withoutChildren), matches);
      return { value, cached: known !== undefined };
    });
  }

  /**
   * Caches files that the client hands over, all or none. Raises `path_not_allowed`, `invalid_argument`, `too_large`,
   * `undecodable`, `unsupported_encoding` and `invalid_encoding`.
   */
  cacheFiles(files: readonly HandoverFile[]): AcceptedFile[] {
    const paths = files.map(({ path }) => path);
    return this.#auditedNow('cache_file', paths, () => this.#handover.cacheFiles(files));
  }

  /**
   * Caches a file that the client hands over, whole or in chunks, after verifying any hashes. Raises the codes of
   * `cacheFiles`.
   */
  receiveFile(file: ReceivedFile): AcceptedChunk {
    const accepted = this.#auditedNow('receive_file', [file.path], () => this.#handover.receiveFile(file));
    if (file.chunk !== undefined) this.onChunk?.({ ...file, path: accepted.path }, accepted.complete);
    return accepted;
  }

  /** Caches what another process of the same server got from the client, and lets pending questions know of it. @internal */
  adopt(key: string, entry: CacheEntry): void {
    this.cache.adopt(key, entry);
    this.#handover.announce(key, entry);
    this.#onGrowth();
  }

  /** Accepts a chunk that another process got. Returns whether its file is complete. Raises what `receiveFile` raises. */
  adoptChunk(file: ReceivedFile): boolean {
    const { complete } = this.#handover.receiveFile(file);
    this.#onGrowth();
    return complete;
  }

  /**
   * Caches a listing that the client hands over, all or nothing, and drops cached files that are older than the listing
   * says. Raises `path_not_allowed`, `invalid_argument`, `invalid_pattern` and `too_large`.
   */
  storeListing(path: string, entries: unknown, pattern?: string): AcceptedListing {
    return this.#auditedNow('store_listing', [path], () => this.#handover.storeListing(path, entries, pattern));
  }

  /** Returns the current counters, after dropping expired chunk sets. */
  stats(): BridgeStats {
    this.#chunks.expire();
    const { size: chunkSets, bytes: chunkBytes } = this.#chunks;
    return { ...this.cache.stats(), asking: this.#fetcher.asking, chunkSets, chunkBytes };
  }

  /** Whether a question is pending. */
  get busy(): boolean {
    return this.#fetcher.asking > 0;
  }

  /** The bytes in the cache and in incomplete chunk sets. */
  get heldBytes(): number {
    return this.cache.bytes + this.#chunks.bytes;
  }

  /** Drops the incomplete chunk set of a file, or all if no path is given. */
  dropChunks(path?: string): void {
    if (path === undefined) this.#chunks.clear();
    else this.#chunks.drop(path);
  }

  async #read(path: string, options: BridgeReadOptions): Promise<FileRead> {
    const { encoding, fallbackEncodings = [], binary = false } = options;
    for (const name of [encoding ?? 'utf-8', ...fallbackEncodings]) assertEncoding(name);
    const key = this.#validator.validate(path);
    const known = this.#lookUp(key);
    if (known !== undefined) return toRead(known, true);
    const question = { path: key, encoding, fallbackEncodings, binary };
    try {
      const file = await this.#fetcher.file(question, this.#asking(options, key));
      this.#onGrowth();
      return toRead(file, false);
    } catch (error) {
      // Not a failure: the server will run the call again once the client has answered, and that run counts the miss.
      if (!(error instanceof RingfenceError)) this.cache.uncountMiss();
      throw error;
    }
  }

  /**
   * Returns a cached file, unless a listing reports a newer mtime. Such a file is dropped and has to be asked for
   * again.
   */
  #lookUp(key: string): CachedFile | undefined {
    const listed = this.cache.peek(key)?.mtime === undefined ? undefined : this.#handover.listingIndex.info(key)?.mtime;
    return this.cache.get(key, { mtime: listed });
  }

  #asking(
    { sample = this.#sample, signal }: AskOptions,
    path: string,
  ): { sample: Sample; signal: AbortSignal | undefined } {
    if (sample === undefined) throw new BridgeError('sampling_unsupported', {}, { path });
    return { sample, signal };
  }

  async #audited<T>(
    operation: BridgeOperation,
    path: string,
    run: () => Promise<{ value: T; cached: boolean }>,
  ): Promise<T> {
    const time = this.#now();
    try {
      const { value, cached } = await run();
      this.#audit({ operation, path, time, durationMs: this.#now() - time, result: 'ok', cached });
      return value;
    } catch (error) {
      throw this.#failed(error, { operation, path, time });
    }
  }

  #auditedNow<T>(operation: BridgeOperation, paths: readonly string[], run: () => T): T {
    const time = this.#now();
    try {
      const value = run();
      this.#onGrowth();
      for (const path of paths) this.#audit({ operation, path, time, durationMs: this.#now() - time, result: 'ok' });
      return value;
    } catch (error) {
      throw this.#failed(error, { operation, path: paths[0] ?? '', time });
    }
  }

  #failed(
    error: unknown,
    { operation, path, time }: { operation: BridgeOperation; path: string; time: number },
  ): unknown {
    if (!(error instanceof RingfenceError)) return error;
    const failure = BridgeError.from(error, path).addLocation(path);
    const where = { operation, path: failure.path ?? path, time, durationMs: this.#now() - time };
    this.#audit({ ...where, result: 'error', ...errorFieldsOf(failure) });
    return failure;
  }
}

function toRead(file: CachedFile, cached: boolean): FileRead {
  const { path, content, encoding, mtime } = file;
  const text = typeof content === 'string' ? encodeText(content, encoding ?? 'utf-8') : content;
  return { path, bytes: text ?? Buffer.from(content), encoding, mtime, cached };
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function withoutChildren({ children: _, ...entry }: PathInfo): PathInfo {
  return entry;
}
