import type { SearchMemory } from '../kernels/search-memory.ts';
import { frequencyWhereNamed } from './byte-frequency.ts';
import type { Finder } from './prefilter.ts';
import { MOST_PLACES, type WindowTables, windowTables } from './probe-tables.ts';

/** It is a text that is looked for, and there is no other way. */
const PATIENCE = 0x7fff_ffff;

/** Finds where a string of bytes is, in regions that this memory holds, by comparing 16 bytes at once. */
export class SimdTextScanner {
  readonly #search: Omit<TextSearch, 'region'>;

  constructor(text: Buffer, memory: SearchMemory) {
    const offset = Math.max(0, Math.min(rarestIn(text) - MOST_PLACES / 2, text.length - MOST_PLACES));
    const tables = windowTables([Array.from(text.subarray(offset, offset + MOST_PLACES), (byte) => [byte])]);
    this.#search = { memory, tables, offset, text };
  }

  scan(region: Buffer): Finder {
    const { memory, tables, offset, text } = this.#search;
    return new SimdTextFinder({ memory, tables, offset, text, region });
  }
}

function rarestIn(text: Buffer): number {
  return text.reduce((best, byte, i) => (frequencyAt(byte) < frequencyAt(text[best] as number) ? i : best), 0);
}

const frequencyAt = (byte: number): number => frequencyWhereNamed([byte]);

interface TextSearch {
  readonly memory: SearchMemory;
  /** A piece of the text, and where it begins there. */
  readonly tables: WindowTables;
  readonly offset: number;
  readonly text: Buffer;
  readonly region: Buffer;
}

class SimdTextFinder implements Finder {
  /** Hardly worth counting. */
  readonly spent = 0;
  readonly #search: TextSearch;

  constructor(search: TextSearch) {
    this.#search = search;
  }

  next(from: number): number {
    const { memory, tables, offset, region } = this.#search;
    for (let at = from + offset; ; at += 1) {
      at = memory.find(region, tables, { from: at, patience: PATIENCE });
      if (at === -1 || this.#isAt(at - offset)) return at;
    }
  }

  #isAt(start: number): boolean {
    const { text, tables, region } = this.#search;
    const end = start + text.length;
    return (
      text.length === tables.longest || (end <= region.length && region.compare(text, 0, text.length, start, end) === 0)
    );
  }
}
