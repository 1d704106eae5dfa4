import { BridgeError } from '../bridge-error.ts';
import { assertEncoding } from '../text-encoding.ts';
import { assertHash, assertHashForm, type FileBytes, type HandoverFile, sha256, toBytes } from './handover-file.ts';
import { invalid } from './invalid-argument.ts';

/** The position of one chunk in a file. */
export interface Chunk {
  /** Counted from 0. */
  readonly index: number;
  readonly total: number;
  /** SHA-256 of this chunk's bytes, in hex. */
  readonly sha256?: string | undefined;
}

/** A chunk as the client sends it. Each chunk of bytes is complete base64 by itself; text may be split anywhere. */
export interface HandoverChunk extends HandoverFile {
  readonly chunk: Chunk;
}

/** The limits of a `ChunkSets`. */
export interface ChunkSetsOptions {
  /** The limit for the chunks of all incomplete files together. */
  readonly maxBytes: number;
  /** How many files may be incomplete at once; 32 by default. */
  readonly maxSets?: number | undefined;
  /** How long an incomplete set is kept after its last chunk; 5 minutes by default. */
  readonly ttlMs?: number | undefined;
  readonly now?: (() => number) | undefined;
}

const MAX_SETS = 32;
/** The most chunks that a file may be sent in. */
export const MAX_CHUNKS = 10_000;
/** How long an incomplete set is kept after its last chunk, unless another time is given. */
export const CHUNK_TTL_MS = 5 * 60_000;

interface ChunkSet {
  readonly total: number;
  readonly binary: boolean;
  readonly encoding: string | undefined;
  sha256: string | undefined;
  /** Hash of each chunk's content, to recognise repeated chunks. */
  readonly digests: Map<number, string>;
  /** Cleared when the file is complete. */
  readonly contents: Map<number, string>;
  bytes: number;
  lastUsed: number;
}

/**
 * The complete file, or how many chunks have arrived; `repeated` for a repeated chunk of a file that is already
 * complete.
 */
export type ChunkResult =
  | { readonly file: FileBytes }
  | { readonly received: number; readonly total: number }
  | 'repeated';

/**
 * Assembles files from chunks that arrive in any order and possibly more than once. Incomplete sets expire. When they
 * hold too many bytes, the least recently used is dropped; when there are too many, a new one is refused.
 */
export class ChunkSets {
  /**
   * From the least to the most recently used. Complete sets stay until they expire, without content, to recognise
   * repeated chunks.
   */
  readonly #sets = new Map<string, ChunkSet>();
  readonly #maxBytes: number;
  readonly #maxSets: number;
  readonly #ttlMs: number;
  readonly #now: () => number;

  constructor({ maxBytes, maxSets = MAX_SETS, ttlMs = CHUNK_TTL_MS, now = Date.now }: ChunkSetsOptions) {
    this.#maxBytes = maxBytes;
    this.#maxSets = maxSets;
    this.#ttlMs = ttlMs;
    this.#now = now;
  }

  /** The bytes of all incomplete files. */
  get bytes(): number {
    return [...this.#sets.values()].reduce((sum, set) => sum + set.bytes, 0);
  }

  /** How many files are incomplete. */
  get size(): number {
    return [...this.#sets.values()].filter((set) => !isComplete(set)).length;
  }

  /**
   * Accepts one chunk. Raises `invalid_argument` for a chunk that contradicts earlier ones or its hash, or that would
   * begin one file too many, `too_large` for a file that can never fit, and the codes of `toBytes`.
   */
  receive(path: string, file: HandoverChunk): ChunkResult {
    this.expire();
    const { index, sha256: hash } = file.chunk;
    assertChunk(file.chunk);
    if (file.sha256 !== undefined) assertHashForm(file.sha256, 'sha256');
    const bytes = chunkBytes(file);
    if (hash !== undefined) assertHash(sha256(bytes), hash, 'chunk.sha256');
    const digest = sha256(Buffer.from(file.content, 'utf16le'));
    const set = this.#setOf(path, file, digest);
    if (isComplete(set)) return 'repeated';
    assertSame(set, file);
    const known = set.digests.get(index);
    if (known !== undefined && known !== digest)
      throw invalid('chunk.index', `${index} was received before with other content`);
    if (known === undefined) {
      this.#assertFits(path, set.bytes + bytes.length);
      set.digests.set(index, digest);
      set.contents.set(index, file.content);
      set.bytes += bytes.length;
    }
    set.sha256 ??= file.sha256;
    return this.#settle(path, set);
  }

  /** Drops the chunks of a file, complete or not. */
  drop(path: string): void {
    this.#sets.delete(path);
  }

  /** Drops the record of a complete file, so that repeated chunks build it again. */
  dropComplete(path: string): void {
    const set = this.#sets.get(path);
    if (set !== undefined && isComplete(set)) this.drop(path);
  }

  /** Drops every set whose last chunk arrived longer ago than the time to live. */
  expire(): void {
    const oldest = this.#now() - this.#ttlMs;
    for (const [path, set] of this.#sets) if (set.lastUsed <= oldest) this.#sets.delete(path);
  }

  /** Drops all sets. */
  clear(): void {
    this.#sets.clear();
  }

  #setOf(path: string, file: HandoverChunk, digest: string): ChunkSet {
    const known = this.#sets.get(path);
    if (known === undefined) {
      this.#assertRoom();
      return newSet(file);
    }
    // Once a file is complete, a chunk that differs from the old ones starts its next version.
    const repeats = known.total === file.chunk.total && known.digests.get(file.chunk.index) === digest;
    return isComplete(known) && !repeats ? newSet(file) : known;
  }

  #settle(path: string, set: ChunkSet): ChunkResult {
    this.#sets.delete(path);
    const complete = isComplete(set);
    const file = complete ? assemble(set, path) : undefined;
    if (complete) {
      set.contents.clear();
      set.bytes = 0;
    }
    set.lastUsed = this.#now();
    this.#sets.set(path, set);
    this.#makeRoom();
    if (file !== undefined) return { file };
    return { received: set.digests.size, total: set.total };
  }

  /** A new set is refused instead of evicting an old one: files sent in parallel would evict each other for ever. */
  #assertRoom(): void {
    if (this.size < this.#maxSets) return;
    throw invalid(
      'chunk',
      `begins one file too many: ${this.#maxSets} are unfinished; send their missing chunks first`,
    );
  }

  #assertFits(path: string, size: number): void {
    if (size <= this.#maxBytes) return;
    this.drop(path);
    throw new BridgeError('too_large', { size, limit: this.#maxBytes }, { path });
  }

  #makeRoom(): void {
    for (const [path, set] of this.#sets) {
      if (this.#sets.size <= this.#maxSets) break;
      if (isComplete(set)) this.#sets.delete(path);
    }
    for (const path of this.#sets.keys()) {
      if (this.bytes <= this.#maxBytes) return;
      this.#sets.delete(path);
    }
  }
}

function newSet({ chunk: { total }, binary = false, encoding, sha256: hash }: HandoverChunk): ChunkSet {
  return { total, binary, encoding, sha256: hash, digests: new Map(), contents: new Map(), bytes: 0, lastUsed: 0 };
}

function isComplete({ digests, total }: ChunkSet): boolean {
  return digests.size === total;
}

function assertChunk({ index, total }: Chunk): void {
  if (!Number.isSafeInteger(total) || total < 1 || total > MAX_CHUNKS)
    throw invalid('chunk.total', `must be a whole number from 1 to ${MAX_CHUNKS}`);
  if (!Number.isSafeInteger(index) || index < 0 || index >= total)
    throw invalid('chunk.index', `must be a whole number from 0 to ${total - 1}`);
}

function assertSame(set: ChunkSet, { chunk: { total }, binary = false, encoding, sha256: hash }: HandoverChunk): void {
  if (set.total !== total) throw invalid('chunk.total', `was ${set.total} in earlier chunks, and is ${total} now`);
  if (set.binary !== binary || set.encoding !== encoding)
    throw invalid('encoding', 'and binary must be the same in all chunks of a file');
  if (set.sha256 !== undefined && hash !== undefined && set.sha256.toLowerCase() !== hash.toLowerCase())
    throw invalid('sha256', 'must be that of the whole file, the same in all chunks');
}

/** Returns the bytes of one chunk. For text split within a surrogate pair they are only good for measuring its size. */
function chunkBytes(file: HandoverChunk): Buffer {
  const { content, encoding = 'utf-8' } = file;
  if (file.binary === true || encoding === 'base64' || content.isWellFormed()) return toBytes(file).bytes;
  assertEncoding(encoding);
  return Buffer.from(content);
}

/**
 * Joins the chunks of a complete set. Base64 is decoded chunk by chunk; text is joined first, as a character may be
 * split.
 */
function assemble({ total, contents, binary, encoding, sha256: expected }: ChunkSet, path: string): FileBytes {
  const ordered = Array.from({ length: total }, (_, i) => contents.get(i) ?? '');
  const parts = binary || encoding === 'base64' ? ordered : [ordered.join('')];
  const files = parts.map((content) => toBytes({ path, content, encoding, binary }));
  const bytes = Buffer.concat(files.map((file) => file.bytes));
  if (expected !== undefined) assertHash(sha256(bytes), expected, 'sha256');
  return { bytes, encoding: files[0]?.encoding };
}
