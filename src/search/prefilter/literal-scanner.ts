import type { SearchMemory } from '../kernels/search-memory.ts';
import { PAUSED } from '../pattern/line-matcher.ts';
import { frequencyInScript } from './byte-frequency.ts';
import { buildProbeTables, type CostedTables, MAX_POSITIONS } from './probe-tables.ts';

/** Budget without effect: the literal decides alone, so there is nothing to fall back to. */
const UNLIMITED = 0x7fff_ffff;

/**
 * Number of bytes to compare, after which a scan pauses: a long literal may begin at every byte. Takes a few
 * milliseconds.
 */
const BYTES_PER_TURN = 16 * 1024 * 1024;

/** Maximum length of what `Buffer.indexOf` looks for: on hostile text, its time is the product of both lengths. */
const MAX_NEEDLE = 64;

/**
 * Finds a literal in SIMD memory: the kernel compares up to 16 bytes around the rarest byte, and the rest is compared
 * where they match.
 */
export class LiteralScanner {
  readonly #memory: SearchMemory;
  readonly #part: LiteralPart;
  readonly #tables: CostedTables;

  constructor(text: Buffer, memory: SearchMemory) {
    const offset = Math.max(0, Math.min(rarestIn(text) - MAX_POSITIONS / 2, text.length - MAX_POSITIONS));
    this.#memory = memory;
    this.#tables = buildProbeTables([Array.from(text.subarray(offset, offset + MAX_POSITIONS), (byte) => [byte])]);
    this.#part = { text, offset, length: this.#tables.longest };
  }

  /** Starts a scan of a block in SIMD memory. Every candidate is an occurrence. */
  scan(block: Buffer): LiteralFinder {
    return new SimdLiteralFinder(block, this.#part, { memory: this.#memory, tables: this.#tables });
  }
}

/** Finds a literal in blocks of any memory with `Buffer.indexOf`. */
export class PlainLiteralScanner {
  readonly #part: LiteralPart;

  constructor(text: Buffer) {
    this.#part = { text, offset: 0, length: Math.min(text.length, MAX_NEEDLE) };
  }

  /** Starts a scan of a block. Every candidate is an occurrence. */
  scan(block: Buffer): LiteralFinder {
    return new PlainLiteralFinder(block, this.#part);
  }
}

function rarestIn(text: Buffer): number {
  return text.reduce((best, byte, i) => (frequencyAt(byte) < frequencyAt(text[best] as number) ? i : best), 0);
}

const frequencyAt = (byte: number): number => frequencyInScript([byte]);

/** A literal, and the part of it that is looked for: where it starts and how long it is. */
interface LiteralPart {
  readonly text: Buffer;
  readonly offset: number;
  readonly length: number;
}

/** A scan of one block. It looks for a part of the literal, and compares the rest where that occurs. */
abstract class LiteralFinder {
  protected readonly block: Buffer;
  protected readonly part: LiteralPart;
  /** Number of bytes compared in this turn. */
  #compared = 0;
  #paused = 0;

  constructor(block: Buffer, part: LiteralPart) {
    this.block = block;
    this.part = part;
  }

  /** Returns the offset of the first occurrence of the part at or after `from`, or -1. */
  protected abstract findPart(from: number): number;

  /** Returns an offset within the first occurrence of the literal at or after `from`, -1, or `PAUSED`. */
  next(from: number): number {
    const { offset, text } = this.part;
    for (let at = from + offset; ; at += 1) {
      at = this.findPart(at);
      if (at === -1 || this.#isAt(at - offset)) return at;
      this.#compared += text.length;
      if (this.#compared > BYTES_PER_TURN) {
        this.#paused = at + 1 - offset;
        return PAUSED;
      }
    }
  }

  /** Continues a call that returned `PAUSED`. */
  resume(): number {
    this.#compared = 0;
    return this.next(this.#paused);
  }

  #isAt(start: number): boolean {
    const { text, length } = this.part;
    const end = start + text.length;
    return (
      text.length === length || (end <= this.block.length && this.block.compare(text, 0, text.length, start, end) === 0)
    );
  }
}

class SimdLiteralFinder extends LiteralFinder {
  readonly #memory: SearchMemory;
  readonly #tables: CostedTables;

  constructor(block: Buffer, part: LiteralPart, { memory, tables }: { memory: SearchMemory; tables: CostedTables }) {
    super(block, part);
    this.#memory = memory;
    this.#tables = tables;
  }

  protected findPart(from: number): number {
    return this.#memory.find(this.block, this.#tables, { from, budget: UNLIMITED });
  }
}

class PlainLiteralFinder extends LiteralFinder {
  protected findPart(from: number): number {
    return this.block.indexOf(this.part.text.subarray(0, this.part.length), from);
  }
}
