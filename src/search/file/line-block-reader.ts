import type { ReadableFile } from '../../fence/index.ts';
import { characterStart } from '../../runtime/unicode.ts';

/**
 * Size of one read: large enough to amortize the system call, small enough to stay in the processor's cache and to
 * react to cancellation soon.
 */
export const CHUNK_BYTES = 512 * 1024;

/** Size of one read after the requested range, which only completes its last line. */
const READ_PAST_BYTES = 16 * 1024;

/** A longer line is returned in pieces of this size, which bounds the memory. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

/** Overlap of consecutive pieces of a long line. A match up to this length is found wherever it lies. */
const OVERLAP_BYTES = 64 * 1024;

/** A file with a NUL in its first `SNIFF_BYTES` bytes is binary. */
export const SNIFF_BYTES = 8 * 1024;

/**
 * Bytes are stored at the same offset within a page as in the file. Otherwise the copy suffers from 4-KByte aliasing:
 * some processors treat a load as dependent on a recent store with the same low 12 address bits, which cuts the speed
 * to a quarter. See
 * https://www.intel.com/content/www/us/en/developer/articles/technical/intel64-and-ia32-architectures-optimization.html.
 */
const PAGE = 4096;

const LF = 0x0a;

/** Part of a file: whole lines, or a piece of a line longer than `MAX_LINE_BYTES`. */
export interface LineBlock {
  /** Valid until the next block is read. */
  readonly bytes: Buffer;
  /** Offset of the first byte in the file. */
  readonly offset: number;
  readonly isPiece: boolean;
  /** Whether the file ends here. Then the last line may lack its LF, and the block may be empty. */
  readonly isLast: boolean;
}

/** The range of a file that a `LineBlockReader` reads. */
export interface BlockRange {
  /** Offset of the first byte to read. */
  readonly from: number;
  /** Offset up to which bytes are read in large chunks; reading continues after it in small ones. */
  readonly to: number;
  /** Size of the file, or 0 if it is unknown. */
  readonly end: number;
}

/**
 * Reads a file as blocks of whole lines. Memory is bounded by `MAX_LINE_BYTES`, whatever the size of the file and the
 * length of its lines. Raises what reading the file raises.
 */
export class LineBlockReader {
  readonly #file: ReadableFile;
  readonly #range: BlockRange;
  #buffer: Buffer;
  /** File offset of the next read. */
  #position: number;
  /** Bounds of the buffered bytes that were not returned yet; there is no LF between `#begin` and `#scanned`. */
  #begin: number;
  #scanned: number;
  #filled: number;
  #atEnd = false;

  /** `buffer` is a read buffer from `SearchMemory.take`. */
  constructor(file: ReadableFile, buffer: Buffer, range: BlockRange) {
    this.#file = file;
    this.#buffer = buffer;
    this.#range = range;
    this.#position = range.from;
    this.#begin = range.from % PAGE;
    this.#scanned = this.#begin;
    this.#filled = this.#begin;
  }

  /** File offset of the next block. */
  get offset(): number {
    return this.#position - (this.#filled - this.#begin);
  }

  /** Whether the first `SNIFF_BYTES` bytes contain a NUL. Call it before `next`. */
  startsBinary(): boolean {
    while (!this.#atEnd && this.#filled - this.#begin < SNIFF_BYTES) this.#read();
    const end = Math.min(this.#filled, this.#begin + SNIFF_BYTES);
    return this.#buffer.subarray(this.#begin, end).includes(0);
  }

  /** Skips to the start of the next line. Returns false if no line starts before file offset `until`. */
  skipLine(until: number): boolean {
    for (;;) {
      const lf = this.#buffer.subarray(this.#begin, this.#filled).indexOf(LF);
      this.#begin = lf === -1 ? this.#filled : this.#begin + lf + 1;
      if (lf !== -1 || this.offset >= until || this.#atEnd) return lf !== -1 && this.offset < until;
      this.#keepFrom(this.#begin);
      this.#read();
    }
  }

  /** Reads the next block. After a block with `isLast` there is none. */
  next(): LineBlock {
    this.#keepFrom(this.#begin);
    for (;;) {
      if (this.#atEnd) return this.#give(this.#filled, { isLast: true });
      const lf = this.#buffer.subarray(this.#scanned, this.#filled).lastIndexOf(LF);
      if (lf !== -1) return this.#give(this.#scanned + lf + 1, {});
      this.#scanned = this.#filled;
      if (this.#filled < this.#buffer.length) {
        this.#read();
      } else if (this.#buffer.length < MAX_LINE_BYTES) {
        this.#buffer = Buffer.concat([this.#buffer], Math.min(MAX_LINE_BYTES, this.#buffer.length * 4));
      } else {
        // The last character may be incomplete.
        const result = this.#give(characterStart(this.#buffer, this.#filled - 1), { isPiece: true });
        this.#begin = characterStart(this.#buffer, this.#begin - OVERLAP_BYTES);
        return result;
      }
    }
  }

  #give(end: number, { isPiece = false, isLast = false }): LineBlock {
    const { offset } = this;
    const bytes = this.#buffer.subarray(this.#begin, end);
    this.#begin = end;
    return { bytes, offset, isPiece, isLast };
  }

  /** Moves the unread bytes to the front of the buffer. */
  #keepFrom(at: number): void {
    const left = this.#filled - at;
    const begin = (this.#position - left) % PAGE;
    if (begin !== at) this.#buffer.copyWithin(begin, at, this.#filled);
    this.#begin = begin;
    this.#scanned = begin;
    this.#filled = begin + left;
  }

  #read(): void {
    const { to, end } = this.#range;
    const wanted = this.#position < to ? to - this.#position : READ_PAST_BYTES;
    const known = end > 0 ? end - this.#position : CHUNK_BYTES;
    const length = Math.min(CHUNK_BYTES, wanted, known, this.#buffer.length - this.#filled);
    const got = this.#file.readInto(this.#buffer, { at: this.#filled, length, position: this.#position });
    this.#filled += got;
    this.#position += got;
    this.#atEnd = got === 0 || (end > 0 && this.#position >= end);
  }
}
