import { FREQUENCIES } from './byte-frequency.ts';

/** Up to this length `indexOf` looks for the first byte, which is fast where it is rare; then it jumps, which is not. */
const PIECE = 7;
/** A longer needle has a rare byte well before. */
const LOOKED_AT = 256;

/** Nanoseconds: a byte, a place where the first byte is, the same if there are no others, and a byte between jumps. */
const SCAN = 0.07;
const STOP = 10;
const STOP_ALONE = 30;
const JUMP = 5;

/** A string of bytes, looked for by a piece of it that begins with a rare byte. */
export class Needle {
  /** Nanoseconds per byte of typical text. */
  readonly cost: number;
  readonly #bytes: Buffer;
  readonly #piece: Buffer | number;
  /** Where the piece begins in the needle. */
  readonly #offset: number;

  constructor(bytes: Buffer) {
    let cost = bytes.length <= PIECE ? Number.POSITIVE_INFINITY : SCAN + JUMP / bytes.length;
    let offset = 0;
    let length = bytes.length;
    for (let i = 0; i < bytes.length && i < LOOKED_AT; i += 1) {
      const stop = i === bytes.length - 1 ? STOP_ALONE : STOP;
      const other = SCAN + stop * (FREQUENCIES[bytes[i] as number] as number);
      if (other >= cost) continue;
      cost = other;
      offset = i;
      length = PIECE;
    }
    const piece = bytes.subarray(offset, offset + length);
    this.cost = cost;
    this.#bytes = bytes;
    this.#piece = piece.length === 1 ? (piece[0] as number) : piece;
    this.#offset = offset;
  }

  /** A place in the first one that begins at or after `from`, or -1. */
  indexIn(region: Buffer, from: number): number {
    for (let at = from + this.#offset; ; at += 1) {
      at = region.indexOf(this.#piece, at);
      if (at === -1 || this.#isAt(region, at - this.#offset)) return at;
    }
  }

  #isAt(region: Buffer, start: number): boolean {
    const bytes = this.#bytes;
    if (start + bytes.length > region.length) return false;
    for (let i = 0; i < bytes.length; i += 1) if (region[start + i] !== bytes[i]) return false;
    return true;
  }
}
