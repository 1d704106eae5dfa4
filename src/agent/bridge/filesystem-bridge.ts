import { RingfenceError } from '../../errors.ts';
import { Fetcher } from '../asking/fetcher.ts';
import { BridgeError } from '../bridge-error.ts';
import type { CachedFile, CacheStats, FileCache } from '../cache/file-cache.ts';
import { compileListingFilter, filterEntries } from '../cache/listing-filter.ts';
import { ChunkSets } from '../handover/chunk-sets.ts';
import {
  Handover,
  type ReceivedFile,
  type TakenChunk,
  type TakenFile,
  type TakenListing,
} from '../handover/handover.ts';
import type { HandedFile } from '../handover/handover-file.ts';
import type { PathInfo } from '../listing-entry.ts';
import type { Mtime } from '../mtime.ts';
import { PathValidator } from '../policy/path-validator.ts';
import type { SecurityPolicy } from '../policy/security-policy.ts';
import type { Sample } from '../sample.ts';
import { assertEncoding, decodeBytes, decodeFirst, encodeText } from '../text-encoding.ts';
import { type BridgeAudit, type BridgeOperation, failureOf } from './bridge-event.ts';

export interface FilesystemBridgeOptions {
  readonly policy: SecurityPolicy;
  readonly cache: FileCache;
  /** Asks whoever has the files. A call may bring its own. Without either, only what was handed over can be read. */
  readonly sample?: Sample | undefined;
  /** How long an answer is waited for; 30 seconds by default. */
  readonly timeoutMs?: number | undefined;
  /** The longest answer that is asked for, in tokens; 16,384 by default. */
  readonly maxTokens?: number | undefined;
  /** How long an unfinished set of chunks is kept; 5 minutes by default. */
  readonly chunkTtlMs?: number | undefined;
  /** Told of every operation, refused ones too. */
  readonly audit?: BridgeAudit | undefined;
  /** Called after something was taken in. */
  readonly onGrowth?: (() => void) | undefined;
  readonly now?: (() => number) | undefined;
}

export interface AskOptions {
  /** In place of the bridge's own. */
  readonly sample?: Sample | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ReadOptions extends AskOptions {
  /** What the file is to be read as, unless whoever handed it over said what it is; utf-8 by default. */
  readonly encoding?: string | undefined;
  /** Tried in turn where `encoding` does not fit. */
  readonly fallbackEncodings?: readonly string[] | undefined;
  /** Bytes instead of text. */
  readonly binary?: boolean | undefined;
}

export interface ListOptions extends AskOptions {
  /** With all that is below. */
  readonly recursive?: boolean | undefined;
  /** A glob: without a slash for names, with one for paths from the listed folder. */
  readonly pattern?: string | undefined;
}

/** A file with what is known of it. */
export interface FileRead {
  /** Relative to the project. */
  readonly path: string;
  readonly bytes: Buffer;
  /** What text the bytes are, if somebody said so. */
  readonly encoding: string | undefined;
  readonly mtime: Mtime | undefined;
  /** Whether it was there already, so that nobody was asked. */
  readonly cached: boolean;
}

export interface BridgeStats extends CacheStats {
  /** Questions under way. */
  readonly asking: number;
  /** Files of which some chunks are missing. */
  readonly chunkSets: number;
  readonly chunkBytes: number;
}

const TIMEOUT_MS = 30_000;
const MAX_TOKENS = 16_384;

/**
 * Files that somebody else has: asked for when needed, kept in a bounded cache, and neither asked for nor taken in against
 * the policy. Raises `BridgeError`, for a path that the policy refuses `SecurityError`; what `sample` throws passes through.
 */
export class FilesystemBridge {
  readonly policy: SecurityPolicy;
  readonly cache: FileCache;
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
    this.#fetcher = new Fetcher({ validator, handover: this.#handover, timeoutMs, maxTokens });
    this.#sample = options.sample;
    this.#audit = options.audit ?? (() => {});
    this.#onGrowth = options.onGrowth ?? (() => {});
    this.#now = now;
  }

  /** A file as text, or as bytes with `binary`. */
  readFile(path: string, options: ReadOptions & { readonly binary: true }): Promise<Buffer>;
  readFile(path: string, options?: ReadOptions & { readonly binary?: false | undefined }): Promise<string>;
  readFile(path: string, options?: ReadOptions): Promise<string | Buffer>;
  readFile(path: string, options: ReadOptions = {}): Promise<string | Buffer> {
    return this.#audited<string | Buffer>('read_file', path, async () => {
      const { bytes, encoding, path: key, cached } = await this.#read(path, options);
      // A copy, since the cache keeps the original.
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

  /** A file as bytes, with what is known of it. The bytes are those in the cache: do not change them. */
  readBytes(path: string, options: ReadOptions = {}): Promise<FileRead> {
    return this.#audited('read_file', path, async () => {
      const value = await this.#read(path, options);
      return { value, cached: value.cached };
    });
  }

  /** A file if it was handed over already, with its text if it is one; nobody is asked. */
  cached(path: string): (FileRead & { readonly text: string | undefined }) | undefined {
    return this.#auditedNow('read_cached', [path], () => {
      const file = this.#lookUp(this.#validator.validate(path));
      const read = file && toRead(file, true);
      return read && { ...read, text: decodeBytes(read.bytes, read.encoding ?? 'utf-8') };
    });
  }

  /** What is known of a file or folder from what was handed over; nobody is asked. */
  info(path: string): PathInfo | undefined {
    const key = this.#validator.validate(path);
    const listed = this.#handover.listings.info(key);
    const file = this.cache.peek(key);
    if (file === undefined || (listed?.mtime !== undefined && this.cache.isOlder(key, listed.mtime))) return listed;
    const { bytes, mtime = listed?.mtime } = file;
    return { name: nameOf(key), path: key, type: 'file', size: bytes, ...(mtime !== undefined && { mtime }) };
  }

  /** The entries of a folder, with those of the folders in it if `recursive`. */
  listDirectory(path: string, options: ListOptions = {}): Promise<PathInfo[]> {
    return this.#audited('list_directory', path, async () => {
      const { recursive = false, pattern } = options;
      const matches = pattern === undefined ? () => true : compileListingFilter(pattern);
      const question = { path: this.#validator.validate(path), recursive, pattern };
      const known = this.#handover.listings.find(question);
      const entries = known ?? (await this.#fetcher.folder(question, this.#asking(options, question.path)));
      if (known === undefined) this.#onGrowth();
      const value = filterEntries(recursive ? entries : entries.map(withoutChildren), matches);
      return { value, cached: known !== undefined };
    });
  }

  /** Takes files in, all or none: every one is checked first, and together they must fit. */
  cacheFiles(files: readonly HandedFile[]): TakenFile[] {
    const paths = files.map(({ path }) => path);
    return this.#auditedNow('cache_file', paths, () => this.#handover.cacheFiles(files));
  }

  /** Takes in a file whole or in chunks; hashes are verified. */
  receiveFile(file: ReceivedFile): TakenChunk {
    return this.#auditedNow('receive_file', [file.path], () => this.#handover.receiveFile(file));
  }

  /** Takes in a listing, all or none. Files that it says are newer than what is kept are dropped from the cache. */
  storeListing(path: string, entries: unknown, pattern?: string): TakenListing {
    return this.#auditedNow('store_listing', [path], () => this.#handover.storeListing(path, entries, pattern));
  }

  stats(): BridgeStats {
    this.#chunks.expire();
    const { size: chunkSets, bytes: chunkBytes } = this.#chunks;
    return { ...this.cache.stats(), asking: this.#fetcher.asking, chunkSets, chunkBytes };
  }

  /** Whether somebody waits for an answer. */
  get busy(): boolean {
    return this.#fetcher.asking > 0;
  }

  /** Bytes in the cache and in unfinished sets of chunks. */
  get heldBytes(): number {
    return this.cache.bytes + this.#chunks.bytes;
  }

  /** Lets go of all unfinished sets of chunks. */
  dropChunks(): void {
    this.#chunks.clear();
  }

  async #read(path: string, options: ReadOptions): Promise<FileRead> {
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
      // The answer comes with another run of the same read, which counts.
      if (!(error instanceof RingfenceError)) this.cache.takeBackMiss();
      throw error;
    }
  }

  /** A listing that knows a later time than the file's own has it asked for again. */
  #lookUp(key: string): CachedFile | undefined {
    const listed = this.cache.peek(key)?.mtime === undefined ? undefined : this.#handover.listings.info(key)?.mtime;
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
    const failure = BridgeError.from(error, path).locate(path);
    const where = { operation, path: failure.path ?? path, time, durationMs: this.#now() - time };
    this.#audit({ ...where, result: 'error', ...failureOf(failure) });
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
