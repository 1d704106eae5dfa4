import type { SearchMemory } from '../kernels/search-memory.ts';
import { frequencyInScript } from './byte-frequency.ts';
import type { CandidateFinder } from './prefilter.ts';
import { buildProbeTables, type CostedTables, MAX_POSITIONS } from './probe-tables.ts';

/** Budget without effect: the literal decides alone, so there is nothing to fall back to. */
const UNLIMITED = 0x7fff_ffff;

/**
 * Finds a literal in SIMD memory: the kernel compares up to 16 bytes around the rarest byte, and the rest is compared
 * where they match.
 */
export class LiteralScanner {
  readonly #search: Omit<LiteralSearch, 'block'>;

  constructor(text: Buffer, memory: SearchMemory) {
    const offset = Math.max(0, Math.min(rarestIn(text) - MAX_POSITIONS / 2, text.length - MAX_POSITIONS));
    const tables = buildProbeTables([Array.from(text.subarray(offset, offset + MAX_POSITIONS), (byte) => [byte])]);
    this.#search = { memory, tables, offset, text };
  }

  /** Starts a scan of a block in SIMD memory. Every candidate is an occurrence. */
  scan(block: Buffer): CandidateFinder {
    const { memory, tables, offset, text } = this.#search;
    return new LiteralFinder({ memory, tables, offset, text, block });
  }
}

function rarestIn(text: Buffer): number {
  return text.reduce((best, byte, i) => (frequencyAt(byte) < frequencyAt(text[best] as number) ? i : best), 0);
}

const frequencyAt = (byte: number): number => frequencyInScript([byte]);

interface LiteralSearch {
  readonly memory: SearchMemory;
  /** Tables for the compared part of the literal, and where that part starts in it. */
  readonly tables: CostedTables;
  readonly offset: number;
  readonly text: Buffer;
  readonly block: Buffer;
}

class LiteralFinder implements CandidateFinder {
  /** The scan is never given up, so its cost is not counted. */
  readonly spent = 0;
  readonly #search: LiteralSearch;

  constructor(search: LiteralSearch) {
    this.#search = search;
  }

  next(from: number): number {
    const { memory, tables, offset, block } = this.#search;
    for (let at = from + offset; ; at += 1) {
      at = memory.find(block, tables, { from: at, budget: UNLIMITED });
      if (at === -1 || this.#isAt(at - offset)) return at;
    }
  }

  #isAt(start: number): boolean {
    const { text, tables, block } = this.#search;
    const end = start + text.length;
    return (
      text.length === tables.longest || (end <= block.length && block.compare(text, 0, text.length, start, end) === 0)
    );
  }
}
