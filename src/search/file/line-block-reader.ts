import type { ReadableFile } from '../../fence/index.ts';
import { characterStart } from '../../runtime/utf8.ts';

/** Read at once. Small enough to stay in the processor's cache and to stop soon, and much for what each read takes besides. */
export const CHUNK_BYTES = 512 * 1024;

/** Read at once past the range that is asked for, to complete its last line. */
const READ_PAST_BYTES = 16 * 1024;

/** A longer line is given in pieces of this size, so that memory does not grow with it. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

/** What two pieces of such a line have in common: a match that is not longer is found wherever it lies. */
const OVERLAP_BYTES = 64 * 1024;

/** A NUL in as many bytes at the beginning makes a file binary. */
export const SNIFF_BYTES = 8 * 1024;

/**
 * Bytes are kept as far into a page as they are in the file. Elsewhere, some processors take each load for one that has to
 * wait for the store before it, and copy at a quarter of the speed.
 */
const PAGE = 4096;

const LF = 0x0a;

/** Part of a file: whole lines, or a piece of a line that is too long to be given whole. */
export interface LineBlock {
  /** Good until the next one is read. */
  readonly bytes: Buffer;
  /** Where in the file it begins. */
  readonly offset: number;
  readonly isPiece: boolean;
  /** The file ends here. The last line may lack its LF, and there may be no line at all. */
  readonly isLast: boolean;
}

export interface BlockRange {
  /** Where to begin. */
  readonly from: number;
  /** What is probably enough; reading on from there is slower. */
  readonly to: number;
  /** Where the file ends, 0 if that is not known. */
  readonly end: number;
}

/** Reads a file as regions of lines, in memory that depends neither on the file's size nor on the length of its lines. */
export class LineBlockReader {
  readonly #file: ReadableFile;
  readonly #range: BlockRange;
  #buffer: Buffer;
  /** Where the next read goes on in the file. */
  #position: number;
  /** What of the buffer is not given yet, and how far it has no LF. */
  #begin: number;
  #scanned: number;
  #filled: number;
  #atEnd = false;

  /** A buffer of at least `READ_BYTES`. */
  constructor(file: ReadableFile, buffer: Buffer, range: BlockRange) {
    this.#file = file;
    this.#buffer = buffer;
    this.#range = range;
    this.#position = range.from;
    this.#begin = range.from % PAGE;
    this.#scanned = this.#begin;
    this.#filled = this.#begin;
  }

  /** Where the next region will begin. */
  get offset(): number {
    return this.#position - (this.#filled - this.#begin);
  }

  /** Whether what follows looks binary. To be asked before anything is read. */
  startsBinary(): boolean {
    while (!this.#atEnd && this.#filled - this.#begin < SNIFF_BYTES) this.#read();
    const end = Math.min(this.#filled, this.#begin + SNIFF_BYTES);
    return this.#buffer.subarray(this.#begin, end).includes(0);
  }

  /** Leaves out what is before the next line. False if none begins before offset `until`. */
  skipLine(until: number): boolean {
    for (;;) {
      const lf = this.#buffer.subarray(this.#begin, this.#filled).indexOf(LF);
      this.#begin = lf === -1 ? this.#filled : this.#begin + lf + 1;
      if (lf !== -1 || this.offset >= until || this.#atEnd) return lf !== -1 && this.offset < until;
      this.#keepFrom(this.#begin);
      this.#read();
    }
  }

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
        // The last character may not be whole yet.
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

  /** Moves what is left to the front. */
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
