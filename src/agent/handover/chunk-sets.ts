import { BridgeError } from '../bridge-error.ts';
import { assertEncoding } from '../text-encoding.ts';
import { assertHash, assertHashForm, type FileBytes, type HandedFile, sha256, toBytes } from './handover-file.ts';

/** One piece of a file. */
export interface Chunk {
  /** From 0. */
  readonly index: number;
  readonly total: number;
  /** Of this piece's bytes, in hex. */
  readonly sha256?: string | undefined;
}

/** A piece of a file as it is handed over. Base64 is of this piece alone; text may be cut anywhere. */
export interface HandedChunk extends HandedFile {
  readonly chunk: Chunk;
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
  /** Hashes of the contents, to know a piece that comes again. */
  readonly prints: Map<number, string>;
  /** Emptied when the file is complete. */
  readonly contents: Map<number, string>;
  bytes: number;
  touched: number;
}

/** The file, or how much of it is there; `known` for a piece, come once more, of a file that is complete. */
export type Received = { readonly file: FileBytes } | { readonly received: number; readonly total: number } | 'known';

/**
 * Puts files together from pieces that come in any order, more than once, or never. Sets expire, and are bounded in bytes
 * (the one untouched for longest gives way) and in number (no further one is begun). Raises `invalid_argument` for a piece
 * that does not fit the others or its hash, or is one too many, and `too_large` for a file that could never be kept.
 */
export class ChunkSets {
  /** In the order in which they were touched. Complete ones stay for a while, without their content. */
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

  /** Of unfinished files. */
  get bytes(): number {
    return [...this.#sets.values()].reduce((sum, set) => sum + set.bytes, 0);
  }

  /** How many files are unfinished. */
  get size(): number {
    return [...this.#sets.values()].filter((set) => !isComplete(set)).length;
  }

  receive(path: string, file: HandedChunk): Received {
    this.expire();
    const { index, sha256: hash } = file.chunk;
    assertChunk(file.chunk);
    if (file.sha256 !== undefined) assertHashForm(file.sha256, 'sha256');
    const bytes = pieceBytes(file);
    if (hash !== undefined) assertHash(sha256(bytes), hash, 'chunk.sha256');
    const print = sha256(Buffer.from(file.content, 'utf16le'));
    const set = this.#setOf(path, file, print);
    if (isComplete(set)) return 'known';
    assertSame(set, file);
    const known = set.prints.get(index);
    if (known !== undefined && known !== print)
      throw invalid('chunk.index', `${index} was received before with other content`);
    if (known === undefined) {
      this.#assertFits(path, set.bytes + bytes.length);
      set.prints.set(index, print);
      set.contents.set(index, file.content);
      set.bytes += bytes.length;
    }
    set.sha256 ??= file.sha256;
    return this.#settle(path, set);
  }

  /** Forgets what came of a file, complete or not. */
  drop(path: string): void {
    this.#sets.delete(path);
  }

  /** Forgets that a file was complete. */
  dropComplete(path: string): void {
    const set = this.#sets.get(path);
    if (set !== undefined && isComplete(set)) this.drop(path);
  }

  expire(): void {
    const oldest = this.#now() - this.#ttlMs;
    for (const [path, set] of this.#sets) if (set.touched <= oldest) this.#sets.delete(path);
  }

  clear(): void {
    this.#sets.clear();
  }

  #setOf(path: string, file: HandedChunk, print: string): ChunkSet {
    const known = this.#sets.get(path);
    if (known === undefined) {
      this.#assertRoom();
      return newSet(file);
    }
    // After the last piece, one that is not a repetition starts the next version of the file.
    const repeats = known.total === file.chunk.total && known.prints.get(file.chunk.index) === print;
    return isComplete(known) && !repeats ? newSet(file) : known;
  }

  #settle(path: string, set: ChunkSet): Received {
    this.#sets.delete(path);
    const complete = isComplete(set);
    const file = complete ? assemble(set, path) : undefined;
    if (complete) {
      set.contents.clear();
      set.bytes = 0;
    }
    set.touched = this.#now();
    this.#sets.set(path, set);
    this.#makeRoom();
    if (file !== undefined) return { file };
    return { received: set.prints.size, total: set.total };
  }

  /** Were an older set to give way, files sent side by side could push each other out for ever. */
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

function newSet({ chunk: { total }, binary = false, encoding, sha256: hash }: HandedChunk): ChunkSet {
  return { total, binary, encoding, sha256: hash, prints: new Map(), contents: new Map(), bytes: 0, touched: 0 };
}

function isComplete({ prints, total }: ChunkSet): boolean {
  return prints.size === total;
}

function assertChunk({ index, total }: Chunk): void {
  if (!Number.isSafeInteger(total) || total < 1 || total > MAX_CHUNKS)
    throw invalid('chunk.total', `must be a whole number from 1 to ${MAX_CHUNKS}`);
  if (!Number.isSafeInteger(index) || index < 0 || index >= total)
    throw invalid('chunk.index', `must be a whole number from 0 to ${total - 1}`);
}

function assertSame(set: ChunkSet, { chunk: { total }, binary = false, encoding, sha256: hash }: HandedChunk): void {
  if (set.total !== total) throw invalid('chunk.total', `was ${set.total} in earlier chunks, and is ${total} now`);
  if (set.binary !== binary || set.encoding !== encoding)
    throw invalid('encoding', 'and binary must be the same in all chunks of a file');
  if (set.sha256 !== undefined && hash !== undefined && set.sha256.toLowerCase() !== hash.toLowerCase())
    throw invalid('sha256', 'must be that of the whole file, the same in all chunks');
}

/** The bytes of one piece. Text that is cut within a character has none yet: then these only tell how much it is. */
function pieceBytes(file: HandedChunk): Buffer {
  const { content, encoding = 'utf-8' } = file;
  if (file.binary === true || encoding === 'base64' || content.isWellFormed()) return toBytes(file).bytes;
  assertEncoding(encoding);
  return Buffer.from(content);
}

/** Base64 is decoded piece by piece, text is joined first. */
function assemble({ total, contents, binary, encoding, sha256: expected }: ChunkSet, path: string): FileBytes {
  const pieces = Array.from({ length: total }, (_, i) => contents.get(i) ?? '');
  const parts = binary || encoding === 'base64' ? pieces : [pieces.join('')];
  const files = parts.map((content) => toBytes({ path, content, encoding, binary }));
  const bytes = Buffer.concat(files.map((file) => file.bytes));
  if (expected !== undefined) assertHash(sha256(bytes), expected, 'sha256');
  return { bytes, encoding: files[0]?.encoding };
}

function invalid(argument: string, problem: string): BridgeError {
  return new BridgeError('invalid_argument', { problem: `${argument} ${problem}`, argument });
}
