import { BridgeError } from './bridge-error.ts';
import { type FileBytes, type HandedFile, sha256, toBytes } from './handed-file.ts';

/** One piece of a file. */
export interface Chunk {
  /** From 0. */
  readonly index: number;
  readonly total: number;
  /** Of this piece's bytes, in hex. */
  readonly sha256?: string | undefined;
}

/** A file, or a piece of one, handed over with what is needed to check it. */
export interface ChunkedFile extends HandedFile {
  /** Of the whole file's bytes, in hex. */
  readonly sha256?: string | undefined;
  readonly chunk?: Chunk | undefined;
}

export interface ChunkSetsOptions {
  /** All pieces of all unfinished files together. */
  readonly maxBytes: number;
  readonly maxSets?: number | undefined;
  /** How long an unfinished set is kept after its last piece. */
  readonly ttlMs?: number | undefined;
  readonly now?: (() => number) | undefined;
}

const MAX_SETS = 32;
const MAX_CHUNKS = 10_000;
const TTL_MS = 5 * 60_000;

interface ChunkSet {
  readonly total: number;
  readonly binary: boolean;
  readonly encoding: string | undefined;
  sha256: string | undefined;
  readonly pieces: Map<number, { readonly content: string; readonly hash: string }>;
  bytes: number;
  touched: number;
}

export type Received =
  | { readonly complete: true; readonly file: FileBytes }
  | { readonly complete: false; readonly received: number; readonly total: number };

/**
 * Puts files together from pieces that come in any order, more than once, or never. The unfinished are bounded in bytes and
 * number (the one untouched for longest gives way) and expire. Raises `invalid_argument` for a piece that does not fit
 * the others or its hash, `too_large` for a file that could never be kept.
 */
export class ChunkSets {
  readonly #sets = new Map<string, ChunkSet>();
  readonly #maxBytes: number;
  readonly #maxSets: number;
  readonly #ttlMs: number;
  readonly #now: () => number;

  constructor({ maxBytes, maxSets = MAX_SETS, ttlMs = TTL_MS, now = Date.now }: ChunkSetsOptions) {
    this.#maxBytes = maxBytes;
    this.#maxSets = maxSets;
    this.#ttlMs = ttlMs;
    this.#now = now;
  }

  get bytes(): number {
    return [...this.#sets.values()].reduce((sum, set) => sum + set.bytes, 0);
  }

  get size(): number {
    return this.#sets.size;
  }

  receive(path: string, file: ChunkedFile & { readonly chunk: Chunk }): Received {
    this.expire();
    const { chunk } = file;
    assertChunk(chunk);
    const piece = toBytes(file).bytes;
    const hash = sha256(piece);
    if (chunk.sha256 !== undefined) assertHash(hash, chunk.sha256, 'chunk.sha256');
    const set = this.#sets.get(path) ?? newSet(file);
    assertSame(set, file);
    const known = set.pieces.get(chunk.index);
    if (known !== undefined && known.hash !== hash)
      throw invalid('chunk.index', `chunk ${chunk.index} was received before with other content`);
    if (known === undefined) {
      if (set.bytes + piece.length > this.#maxBytes) {
        this.drop(path);
        throw new BridgeError('too_large', { size: set.bytes + piece.length, limit: this.#maxBytes }, { path });
      }
      set.pieces.set(chunk.index, { content: file.content, hash });
      set.bytes += piece.length;
    }
    set.touched = this.#now();
    set.sha256 ??= file.sha256;
    this.drop(path);
    if (set.pieces.size === set.total) return { complete: true, file: assemble(set, path) };
    this.#sets.set(path, set);
    this.#makeRoom();
    return { complete: false, received: set.pieces.size, total: set.total };
  }

  drop(path: string): void {
    this.#sets.delete(path);
  }

  expire(): void {
    const oldest = this.#now() - this.#ttlMs;
    for (const [path, set] of this.#sets) if (set.touched <= oldest) this.#sets.delete(path);
  }

  clear(): void {
    this.#sets.clear();
  }

  /** The sets are in the order in which they were touched. */
  #makeRoom(): void {
    for (const path of this.#sets.keys()) {
      if (this.#sets.size <= this.#maxSets && this.bytes <= this.#maxBytes) return;
      this.#sets.delete(path);
    }
  }
}

/** Raises `invalid_argument` if a hash is not that of what came. */
export function assertHash(actual: string, expected: string, argument: string): void {
  if (actual !== expected.toLowerCase()) throw invalid(argument, `does not match: the content has ${actual}`);
}

function newSet({ chunk, binary = false, encoding, sha256: hash }: ChunkedFile): ChunkSet {
  const total = chunk?.total ?? 0;
  return { total, binary, encoding, sha256: hash, pieces: new Map(), bytes: 0, touched: 0 };
}

function assertChunk({ index, total }: Chunk): void {
  if (!Number.isSafeInteger(total) || total < 1 || total > MAX_CHUNKS)
    throw invalid('chunk.total', `must be a whole number from 1 to ${MAX_CHUNKS}`);
  if (!Number.isSafeInteger(index) || index < 0 || index >= total)
    throw invalid('chunk.index', `must be a whole number from 0 to ${total - 1}`);
}

function assertSame(set: ChunkSet, { chunk, binary = false, encoding, sha256: hash }: ChunkedFile): void {
  if (set.total !== chunk?.total)
    throw invalid('chunk.total', `was ${set.total} in earlier chunks of this file, and is ${chunk?.total} now`);
  if (set.binary !== binary || set.encoding !== encoding)
    throw invalid('encoding', 'and binary must be the same in all chunks of a file');
  if (set.sha256 !== undefined && hash !== undefined && set.sha256.toLowerCase() !== hash.toLowerCase())
    throw invalid('sha256', 'must be that of the whole file, the same in all chunks');
}

/** Base64 is decoded piece by piece; text is joined first, since a piece may end within a character. */
function assemble({ total, pieces, binary, encoding, sha256: expected }: ChunkSet, path: string): FileBytes {
  const contents = Array.from({ length: total }, (_, i) => pieces.get(i)?.content ?? '');
  const parts = binary || encoding === 'base64' ? contents : [contents.join('')];
  const files = parts.map((content) => toBytes({ path, content, encoding, binary }));
  const bytes = Buffer.concat(files.map((file) => file.bytes));
  if (expected !== undefined) assertHash(sha256(bytes), expected, 'sha256');
  return { bytes, encoding: files[0]?.encoding };
}

function invalid(argument: string, problem: string): BridgeError {
  return new BridgeError('invalid_argument', { problem: `${argument} ${problem}`, argument });
}
