import type { SearchMemory } from '../kernels/search-memory.ts';
import { frequencyOf, jointProbability } from './byte-frequency.ts';
import type { ByteSequence } from './byte-sequence.ts';
import { type CandidateFinder, FALSE_POSITIVE_COST, GRACE_BYTES, type PrefilterPlan } from './prefilter.ts';
import { buildProbeTables, type CostedTables, MAX_POSITIONS } from './probe-tables.ts';

const LF = 0x0a;

/**
 * Upper bound on the estimated cost of a line-start prefilter. It is always worth a try, since in many files all lines
 * start alike.
 */
const MAX_LINE_START_COST = 1;

/** Bytes that the DFA scans in the time of one rejected candidate. */
const MISS_BYTES = 6;

/** Plans a SIMD prefilter that reports lines in which one of the sequences occurs. */
export function planSequences(sequences: readonly ByteSequence[], memory: SearchMemory): PrefilterPlan {
  const tables = buildProbeTables(sequences);
  let { cost } = tables;
  for (const sequence of sequences)
    cost += FALSE_POSITIVE_COST * jointProbability(sequence.slice(0, MAX_POSITIONS).map(frequencyOf));
  return { cost, build: () => (block) => new SequenceFinder({ memory, tables, block, isExact: false }) };
}

/** Plans a SIMD prefilter for exact sequences, whose candidates are matches and need no matcher. */
export function planExactSequences(sequences: readonly ByteSequence[], memory: SearchMemory): PrefilterPlan {
  const tables = buildProbeTables(sequences);
  const build = () => (block: Buffer) => new SequenceFinder({ memory, tables, block, isExact: true });
  return { cost: tables.cost, build };
}

/** Plans a SIMD prefilter that reports lines which start with the sequence. */
export function planLineStarts(sequence: ByteSequence, memory: SearchMemory): PrefilterPlan {
  const { cost, build } = planSequences([[[LF], ...sequence]], memory);
  return {
    cost: Math.min(cost, MAX_LINE_START_COST),
    build: () => {
      const prefilter = build();
      return (block) => new LineStartFinder(block, prefilter(block));
    },
  };
}

class LineStartFinder implements CandidateFinder {
  readonly #block: Buffer;
  readonly #finder: CandidateFinder;

  /** `finder` must look for a sequence that starts with an LF. */
  constructor(block: Buffer, finder: CandidateFinder) {
    this.#block = block;
    this.#finder = finder;
  }

  get spent(): number {
    return this.#finder.spent;
  }

  next(from: number): number {
    // The first line of a block has no LF before it.
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
    // When the budget is used up, the kernel returns an unverified position; the caller sees in `spent` that it should
    // give up.
    const budget = 1 + Math.floor(Math.max(0, GRACE_BYTES + block.length - this.spent) / MISS_BYTES);
    const at = memory.find(block, tables, { from, budget });
    this.spent += MISS_BYTES * (budget - memory.budgetLeft);
    // Near the end of the block a sequence may match bytes after it.
    this.isExact = isExact && memory.budgetLeft > 0 && at + tables.longest <= block.length;
    return at;
  }
}
