import type { SearchMemory } from '../kernels/search-memory.ts';
import { frequencyInScript } from './byte-frequency.ts';
import type { CandidateFinder } from './prefilter.ts';
import { buildProbeTables, type CostedTables, MAX_POSITIONS } from './probe-tables.ts';

/** It is a text that is looked for, and there is no other way. */
const PATIENCE = 0x7fff_ffff;

/** Finds where a string of bytes is, in regions that this memory holds, by comparing 16 bytes at once. */
export class LiteralScanner {
  readonly #search: Omit<LiteralSearch, 'block'>;

  constructor(text: Buffer, memory: SearchMemory) {
    const offset = Math.max(0, Math.min(rarestIn(text) - MAX_POSITIONS / 2, text.length - MAX_POSITIONS));
    const tables = buildProbeTables([Array.from(text.subarray(offset, offset + MAX_POSITIONS), (byte) => [byte])]);
    this.#search = { memory, tables, offset, text };
  }

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
  /** A piece of the text, and where it begins there. */
  readonly tables: CostedTables;
  readonly offset: number;
  readonly text: Buffer;
  readonly block: Buffer;
}

class LiteralFinder implements CandidateFinder {
  /** Hardly worth counting. */
  readonly spent = 0;
  readonly #search: LiteralSearch;

  constructor(search: LiteralSearch) {
    this.#search = search;
  }

  next(from: number): number {
    const { memory, tables, offset, block } = this.#search;
    for (let at = from + offset; ; at += 1) {
      at = memory.find(block, tables, { from: at, budget: PATIENCE });
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
