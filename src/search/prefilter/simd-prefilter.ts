import type { SearchMemory } from '../kernels/search-memory.ts';
import { frequencyOf, jointProbability } from './byte-frequency.ts';
import type { ByteSequence } from './byte-sequence.ts';
import { type CandidateFinder, FALSE_POSITIVE_COST, GRACE_BYTES, type PrefilterPlan } from './prefilter.ts';
import { buildProbeTables, type CostedTables, MAX_POSITIONS } from './probe-tables.ts';

const LF = 0x0a;

/** In many texts all lines begin alike, so it is worth a try before all lines are looked at. */
const AT_START = 1;

/** What is scanned in the time of a miss. */
const MISS_BYTES = 6;

/** Finds where bytes fit one of some windows, in regions that this memory holds, by comparing 16 at once. */
export function planSequences(sequences: readonly ByteSequence[], memory: SearchMemory): PrefilterPlan {
  const tables = buildProbeTables(sequences);
  let { cost } = tables;
  for (const sequence of sequences)
    cost += FALSE_POSITIVE_COST * jointProbability(sequence.slice(0, MAX_POSITIONS).map(frequencyOf));
  return { cost, build: () => (block) => new SequenceFinder({ memory, tables, block, isExact: false }) };
}

/** The same for windows that fit nothing but matches. */
export function planExactSequences(sequences: readonly ByteSequence[], memory: SearchMemory): PrefilterPlan {
  const tables = buildProbeTables(sequences);
  const build = () => (block: Buffer) => new SequenceFinder({ memory, tables, block, isExact: true });
  return { cost: tables.cost, build };
}

/** Finds lines that begin with what fits a window. */
export function planLineStarts(sequence: ByteSequence, memory: SearchMemory): PrefilterPlan {
  const { cost, build } = planSequences([[[LF], ...sequence]], memory);
  return {
    cost: Math.min(cost, AT_START),
    build: () => {
      const prefilter = build();
      return (block) => new LineStartFinder(block, prefilter(block));
    },
  };
}

class LineStartFinder implements CandidateFinder {
  readonly #block: Buffer;
  readonly #finder: CandidateFinder;

  /** A finder of what begins with an LF. */
  constructor(block: Buffer, finder: CandidateFinder) {
    this.#block = block;
    this.#finder = finder;
  }

  get spent(): number {
    return this.#finder.spent;
  }

  next(from: number): number {
    // Before the first line there is none.
    if (from === 0 || this.#block[from - 1] !== LF) return from;
    const at = this.#finder.next(from - 1);
    return at === -1 ? -1 : at + 1;
  }
}

interface SequenceSearch {
  readonly memory: SearchMemory;
  readonly tables: CostedTables;
  readonly block: Buffer;
  readonly isExact: boolean;
}

class SequenceFinder implements CandidateFinder {
  spent = 0;
  isExact = false;
  readonly #search: SequenceSearch;

  constructor(search: SequenceSearch) {
    this.#search = search;
  }

  next(from: number): number {
    const { memory, tables, block, isExact } = this.#search;
    // Whatever it finds when that is used up: it is for the caller to see what was spent.
    const budget = 1 + Math.floor(Math.max(0, GRACE_BYTES + block.length - this.spent) / MISS_BYTES);
    const at = memory.find(block, tables, { from, budget });
    this.spent += MISS_BYTES * (budget - memory.budgetLeft);
    // Near the end a window may fit what is behind it.
    this.isExact = isExact && memory.budgetLeft > 0 && at + tables.longest <= block.length;
    return at;
  }
}
