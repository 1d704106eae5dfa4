import { RingfenceError } from '../errors.ts';
import { badAnswer } from './answer.ts';
import { Asks, unlessAborted } from './asks.ts';
import { type BridgeAudit, type BridgeOperation, failureOf } from './audit.ts';
import { BridgeError } from './bridge-error.ts';
import { checkEntries } from './check-entries.ts';
import { assertHash, type ChunkedFile, ChunkSets } from './chunk-sets.ts';
import { readFileAnswer } from './file-answer.ts';
import type { CachedFile, CacheStats, FileCache, Stored } from './file-cache.ts';
import { type FileBytes, type HandedFile, sha256, toBytes } from './handed-file.ts';
import type { PathInfo } from './listing.ts';
import { readListingAnswer } from './listing-answer.ts';
import { compileListingFilter, filterEntries } from './listing-filter.ts';
import type { Mtime } from './mtime.ts';
import { OpenQuestions } from './open-questions.ts';
import { PathValidator } from './path-validator.ts';
import { askForFile, askForListing, type FileQuestion, type ListingQuestion } from './prompts.ts';
import type { Sample, SampleAnswer, SampleParams } from './sample.ts';
import type { SecurityPolicy } from './security-policy.ts';
import { assertEncoding, decodeFirst, encodeText } from './text-encoding.ts';

export interface FilesystemBridgeOptions {
  readonly policy: SecurityPolicy;
  readonly cache: FileCache;
  /** Asks whoever has the files. A call may bring its own. Without either, only what was handed over can be read. */
  readonly sample?: Sample | undefined;
  /** How long an answer is waited for; 30 seconds by default. */
  readonly timeoutMs?: number | undefined;
  /** The longest answer that is asked for; 16,384 by default. */
  readonly maxTokens?: number | undefined;
  /** How long an unfinished set of chunks is kept; 5 minutes by default. */
  readonly chunkTtlMs?: number | undefined;
  /** Told of every operation, refused ones too. */
  readonly audit?: BridgeAudit | undefined;
  /** Called when more is held than before. */
  readonly onGrowth?: (() => void) | undefined;
  readonly now?: (() => number) | undefined;
}

interface AskOptions {
  /** In place of the bridge's own. */
  readonly sample?: Sample | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface ReadOptions extends AskOptions {
  /** What the file is to be read as, where nobody said what it is; utf-8 by default. */
  readonly encoding?: string | undefined;
  /** Tried in turn where `encoding` does not fit. */
  readonly fallbackEncodings?: readonly string[] | undefined;
  /** Bytes instead of text. */
  readonly binary?: boolean | undefined;
}

export interface ListOptions extends AskOptions {
  readonly recursive?: boolean | undefined;
  /** A glob: without a slash for names, with one for paths from the listed folder. */
  readonly pattern?: string | undefined;
}

/** A file with what is known of it. */
export interface FileRead {
  /** Relative to the project. */
  readonly path: string;
  readonly bytes: Buffer;
  readonly encoding: string | undefined;
  readonly mtime: Mtime | undefined;
  /** Whether it was there already, so that nobody was asked. */
  readonly cached: boolean;
}

export interface FileMetadata {
  readonly size: number;
  readonly encoding?: string;
  readonly mtime?: Mtime;
}

/** A file that was taken in. */
export interface TakenFile extends Stored {
  /** The path relative to the project: the key in the cache. */
  readonly path: string;
  readonly size: number;
  /** SHA-256 of the bytes, in hex. */
  readonly contentHash: string;
  readonly metadata: FileMetadata;
  /** What looks odd but was no reason to refuse. */
  readonly warnings: readonly string[];
}

export interface TakenListing {
  readonly path: string;
  /** Entries that came, nested ones included. */
  readonly count: number;
  /** Those that match the pattern. */
  readonly stored: number;
}

export type TakenChunk =
  | ({ readonly complete: true } & TakenFile)
  | { readonly complete: false; readonly path: string; readonly received: number; readonly total: number };

export interface BridgeStats extends CacheStats {
  /** Questions under way. */
  readonly asking: number;
  readonly chunkSets: number;
  readonly chunkBytes: number;
}

const TIMEOUT_MS = 30_000;
const MAX_TOKENS = 16_384;

/**
 * Files that somebody else has: asked for when needed, kept in a bounded cache, and never asked for or taken in against
 * the policy. Raises `BridgeError`; what `sample` throws passes through as it is.
 */
export class FilesystemBridge {
  readonly policy: SecurityPolicy;
  readonly cache: FileCache;
  readonly #validator: PathValidator;
  readonly #chunks: ChunkSets;
  readonly #asks = new Asks();
  readonly #open = new OpenQuestions();
  /** Files that were handed over while they were being asked for. */
  readonly #awaited = new Map<string, { file: CachedFile | undefined }>();
  readonly #sample: Sample | undefined;
  readonly #timeoutMs: number;
  readonly #maxTokens: number;
  readonly #audit: BridgeAudit;
  readonly #onGrowth: () => void;
  readonly #now: () => number;

  constructor(options: FilesystemBridgeOptions) {
    const { policy, cache, now = Date.now } = options;
    this.policy = policy;
    this.cache = cache;
    this.#validator = new PathValidator(policy);
    this.#chunks = new ChunkSets({ maxBytes: cache.maxBytes, ttlMs: options.chunkTtlMs, now });
    this.#sample = options.sample;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#maxTokens = options.maxTokens ?? MAX_TOKENS;
    this.#audit = options.audit ?? (() => {});
    this.#onGrowth = options.onGrowth ?? (() => {});
    this.#now = now;
  }

  /** A file as text, or as bytes with `binary`. */
  readFile(path: string, options: ReadOptions & { readonly binary: true }): Promise<Buffer>;
  readFile(path: string, options?: ReadOptions & { readonly binary?: false | undefined }): Promise<string>;
  readFile(path: string, options?: ReadOptions): Promise<string | Buffer>;
  async readFile(path: string, options: ReadOptions = {}): Promise<string | Buffer> {
    const { bytes, encoding, path: key } = await this.readBytes(path, options);
    if (options.binary === true) return bytes;
    const wanted = encoding ?? options.encoding ?? 'utf-8';
    return decodeFirst(bytes, [wanted, ...(options.fallbackEncodings ?? [])], key);
  }

  /** A file as bytes, with what is known of it. */
  readBytes(path: string, options: ReadOptions = {}): Promise<FileRead> {
    return this.#audited('read_file', path, async () => {
      for (const encoding of [options.encoding ?? 'utf-8', ...(options.fallbackEncodings ?? [])])
        assertEncoding(encoding);
      const key = this.#validator.validate(path);
      const known = this.#lookUp(key);
      const file = known ?? (await this.#fetchFile(key, options));
      const bytes = bytesOf(file);
      return { path: key, bytes, encoding: file.encoding, mtime: file.mtime, cached: known !== undefined };
    });
  }

  /** A file if it is there; nobody is asked. */
  cached(path: string): CachedFile | undefined {
    return this.#lookUp(this.#validator.validate(path));
  }

  /** The entries of a folder, with those of the folders in it if `recursive`. */
  listDirectory(path: string, options: ListOptions = {}): Promise<PathInfo[]> {
    return this.#audited('list_directory', path, async () => {
      const { recursive = false, pattern } = options;
      const matches = pattern === undefined ? () => true : compileListingFilter(pattern);
      const question = { path: this.#validator.validate(path), recursive, pattern };
      const known = this.#lookUpListing(question);
      const entries = known ?? (await this.#fetchListing(question, options));
      return filterEntries(recursive ? entries : entries.map(withoutChildren), matches);
    });
  }

  /** Takes files in, all or none: every one is checked first, and together they must fit. */
  cacheFiles(files: readonly HandedFile[]): TakenFile[] {
    const paths = files.map(({ path }) => path);
    return this.#auditedNow('cache_file', paths, () => {
      const keys = this.#validator.validateAll(paths);
      const twice = keys.find((key, i) => keys.indexOf(key) !== i);
      if (twice !== undefined)
        throw new BridgeError('invalid_argument', { problem: `${twice} is handed over twice`, argument: 'files' });
      return this.#take(files.map((file, i) => ({ ...file, ...toBytes(file), path: keys[i] ?? '' })));
    });
  }

  /** Takes in a file whole or in chunks; hashes are verified. */
  receiveFile(file: ChunkedFile): TakenChunk {
    return this.#auditedNow('receive_file', [file.path], () => {
      const path = this.#validator.validate(file.path);
      const { chunk } = file;
      if (chunk === undefined) {
        const content = toBytes(file);
        if (file.sha256 !== undefined) assertHash(sha256(content.bytes), file.sha256, 'sha256');
        this.#chunks.drop(path);
        return { complete: true, ...this.#takeOne({ ...file, ...content, path }) };
      }
      const received = this.#chunks.receive(path, { ...file, chunk });
      this.#onGrowth();
      if (!received.complete) return { path, ...received };
      return { complete: true, ...this.#takeOne({ ...file, ...received.file, path }) };
    });
  }

  /** Takes in a listing, all or none. Files that it says are newer than what is kept are dropped from the cache. */
  storeListing(path: string, entries: unknown, pattern?: string): TakenListing {
    return this.#auditedNow('store_listing', [path], () => {
      const matches = pattern === undefined ? () => true : compileListingFilter(pattern);
      const key = this.#validator.validate(path);
      const checked = checkEntries(entries, key, this.#validator);
      const kept = filterEntries(checked, matches);
      this.#keepListing({ path: key, recursive: false, pattern }, kept);
      return { path: key, count: countOf(checked), stored: countOf(kept) };
    });
  }

  /** Settles when a question about this file is answered or its time is over; undefined if none is open. */
  asked(path: string): Promise<void> | undefined {
    const key = this.#validator.validate(path);
    return this.#asks.answered(fileAsk(key)) ?? this.#open.answered(key);
  }

  stats(): BridgeStats {
    this.#chunks.expire();
    const { size: chunkSets, bytes: chunkBytes } = this.#chunks;
    return { ...this.cache.stats(), asking: this.#asks.size, chunkSets, chunkBytes };
  }

  /** Bytes in the cache and in unfinished chunk sets. */
  get heldBytes(): number {
    return this.cache.bytes + this.#chunks.bytes;
  }

  /** Lets go of all unfinished chunk sets. */
  dropChunks(): void {
    this.#chunks.clear();
  }

  #lookUp(key: string): CachedFile | undefined {
    return this.cache.get(key);
  }

  async #fetchFile(path: string, options: ReadOptions): Promise<CachedFile> {
    const question: FileQuestion = {
      path,
      encoding: options.encoding,
      fallbackEncodings: options.fallbackEncodings ?? [],
      binary: options.binary ?? false,
    };
    const sample = this.#sampleOf(options, path);
    return this.#asks.share(fileAsk(path), options.signal, async (signal) => {
      const awaited = { file: undefined as CachedFile | undefined };
      this.#awaited.set(path, awaited);
      try {
        const answer = await this.#ask(sample, askForFile(question, this.#maxTokens), { path, signal });
        return awaited.file ?? this.#takeAnswer(readFileAnswer(answer, question), question);
      } catch (error) {
        if (awaited.file !== undefined) return awaited.file;
        throw error;
      } finally {
        this.#awaited.delete(path);
      }
    });
  }

  #takeAnswer(files: readonly ChunkedFile[], { path, encoding, fallbackEncodings }: FileQuestion): CachedFile {
    const keys = this.#validator.validateAll(files.map((file) => file.path));
    const index = keys.indexOf(path);
    const file = files[index];
    if (file === undefined) throw badAnswer(`it is about another path (${keys.join(', ')})`, path);
    const content = { ...file, ...toBytes(file, encoding, fallbackEncodings), path };
    this.#take([content]);
    return this.cache.peek(path) as CachedFile;
  }

  async #fetchListing(question: ListingQuestion, options: ListOptions): Promise<readonly PathInfo[]> {
    const { path } = question;
    const sample = this.#sampleOf(options, path);
    return this.#asks.share(`l:${listingKey(question)}`, options.signal, async (signal) => {
      const answer = await this.#ask(sample, askForListing(question, this.#maxTokens), { path, signal });
      const { path: about, entries } = readListingAnswer(answer, path);
      if (about !== undefined && this.#validator.validate(about) !== path)
        throw badAnswer(`it is about another path (${about})`, path);
      const checked = checkEntries(entries, path, this.#validator);
      this.#keepListing(question, checked);
      return checked;
    });
  }

  #sampleOf(options: AskOptions, path: string): Sample {
    const sample = options.sample ?? this.#sample;
    if (sample === undefined) throw new BridgeError('sampling_unsupported', {}, { path });
    return sample;
  }

  async #ask(sample: Sample, params: SampleParams, { path, signal }: { path: string; signal: AbortSignal }) {
    const timeoutMs = this.#timeoutMs;
    const over = new AbortController();
    const timer = setTimeout(
      () => over.abort(new BridgeError('timed_out', { seconds: timeoutMs / 1000 }, { path })),
      timeoutMs,
    );
    const stop = AbortSignal.any([signal, over.signal]);
    try {
      return await unlessAborted<SampleAnswer>(sample(params, { signal: stop, timeoutMs }), stop);
    } catch (error) {
      if (error instanceof RingfenceError) throw BridgeError.from(error, path);
      this.#open.note(path, timeoutMs);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #take(files: readonly (HandedFile & FileBytes)[]): TakenFile[] {
    const contents = files.map(({ path, bytes, encoding, mtime, size }) => ({
      path,
      content: bytes,
      ...(encoding !== undefined && { encoding }),
      ...(mtime !== undefined && { mtime }),
      ...(size !== undefined && { size }),
    }));
    const stored = this.cache.setAll(contents);
    for (const { path } of files) {
      const awaited = this.#awaited.get(path);
      if (awaited !== undefined) awaited.file = this.cache.peek(path);
      this.#open.settle(path);
    }
    this.#onGrowth();
    return contents.map(({ path, content, encoding, mtime, size }, i) => ({
      path,
      size: content.length,
      contentHash: sha256(content),
      metadata: {
        size: size ?? content.length,
        ...(encoding !== undefined && { encoding }),
        ...(mtime !== undefined && { mtime }),
      },
      warnings:
        size === undefined || size === content.length
          ? []
          : [`${path}: size is given as ${size}, but the content has ${content.length} bytes`],
      ...(stored[i] as Stored),
    }));
  }

  #takeOne(file: HandedFile & FileBytes): TakenFile {
    return this.#take([file])[0] as TakenFile;
  }

  #lookUpListing(question: ListingQuestion): readonly PathInfo[] | undefined {
    return this.cache.getListing(listingKey(question))?.entries;
  }

  #keepListing(question: ListingQuestion, entries: readonly PathInfo[]): void {
    this.cache.setListing(listingKey(question), entries, question.recursive);
    for (const { path, mtime } of filesIn(entries)) if (mtime !== undefined) this.cache.invalidate(path, mtime);
    this.#onGrowth();
  }

  async #audited<T>(operation: BridgeOperation, path: string, run: () => Promise<T>): Promise<T> {
    const time = this.#now();
    try {
      const value = await run();
      this.#audit({ operation, path, time, durationMs: this.#now() - time, result: 'ok' });
      return value;
    } catch (error) {
      if (error instanceof BridgeError)
        this.#audit({ operation, path, time, durationMs: this.#now() - time, result: 'error', ...failureOf(error) });
      throw error;
    }
  }

  #auditedNow<T>(operation: BridgeOperation, paths: readonly string[], run: () => T): T {
    const time = this.#now();
    try {
      const value = run();
      for (const path of paths) this.#audit({ operation, path, time, durationMs: this.#now() - time, result: 'ok' });
      return value;
    } catch (error) {
      const path = error instanceof BridgeError ? (error.path ?? paths[0] ?? '') : '';
      if (error instanceof BridgeError)
        this.#audit({ operation, path, time, durationMs: this.#now() - time, result: 'error', ...failureOf(error) });
      throw error;
    }
  }
}

const fileAsk = (path: string): string => `f:${path}`;

function listingKey({ path, recursive, pattern }: ListingQuestion): string {
  return JSON.stringify([path, recursive, pattern ?? null]);
}

function bytesOf({ content, encoding = 'utf-8' }: CachedFile): Buffer {
  return typeof content === 'string' ? (encodeText(content, encoding) ?? Buffer.from(content)) : content;
}

function withoutChildren({ children: _, ...entry }: PathInfo): PathInfo {
  return entry;
}

function countOf(entries: readonly PathInfo[]): number {
  return entries.reduce((sum, { children = [] }) => sum + 1 + countOf(children), 0);
}

function filesIn(entries: readonly PathInfo[]): PathInfo[] {
  return entries.flatMap((entry) => (entry.type === 'directory' ? filesIn(entry.children ?? []) : [entry]));
}
