import type { SearchMemory } from '../kernels/search-memory.ts';
import { chanceOf, frequencyOf } from './byte-frequency.ts';
import type { ByteWindow } from './byte-sequence.ts';
import { type Finder, PATIENCE, type Plan, VAIN } from './prefilter.ts';
import { MOST_PLACES, type WindowTables, windowTables } from './probe-tables.ts';

const LF = 0x0a;

/** In many texts all lines begin alike, so it is worth a try before all lines are looked at. */
const AT_START = 1;

/** What is scanned in the time of a miss. */
const MISS_BYTES = 6;

/** Finds where bytes fit one of some windows, in regions that this memory holds, by comparing 16 at once. */
export function planSimd(windows: readonly ByteWindow[], memory: SearchMemory): Plan {
  const tables = windowTables(windows);
  let { cost } = tables;
  for (const window of windows) cost += VAIN * chanceOf(window.slice(0, MOST_PLACES).map(frequencyOf));
  return { cost, build: () => (region) => new SimdFinder({ memory, tables, region, isExact: false }) };
}

/** The same for windows that fit nothing but matches. */
export function planSimdExactly(windows: readonly ByteWindow[], memory: SearchMemory): Plan {
  const tables = windowTables(windows);
  const build = () => (region: Buffer) => new SimdFinder({ memory, tables, region, isExact: true });
  return { cost: tables.cost, build };
}

/** Finds lines that begin with what fits a window. */
export function planSimdAtStart(window: ByteWindow, memory: SearchMemory): Plan {
  const { cost, build } = planSimd([[[LF], ...window]], memory);
  return {
    cost: Math.min(cost, AT_START),
    build: () => {
      const prefilter = build();
      return (region) => new LineStartFinder(region, prefilter(region));
    },
  };
}

class LineStartFinder implements Finder {
  readonly #region: Buffer;
  readonly #finder: Finder;

  /** A finder of what begins with an LF. */
  constructor(region: Buffer, finder: Finder) {
    this.#region = region;
    this.#finder = finder;
  }

  get spent(): number {
    return this.#finder.spent;
  }

  next(from: number): number {
    // Before the first line there is none.
    if (from === 0 || this.#region[from - 1] !== LF) return from;
    const at = this.#finder.next(from - 1);
    return at === -1 ? -1 : at + 1;
  }
}

interface SimdSearch {
  readonly memory: SearchMemory;
  readonly tables: WindowTables;
  readonly region: Buffer;
  readonly isExact: boolean;
}

class SimdFinder implements Finder {
  spent = 0;
  isSure = false;
  readonly #search: SimdSearch;

  constructor(search: SimdSearch) {
    this.#search = search;
  }

  next(from: number): number {
    const { memory, tables, region, isExact } = this.#search;
    // Whatever it finds when that is used up: it is for the caller to see what was spent.
    const patience = 1 + Math.floor(Math.max(0, PATIENCE + region.length - this.spent) / MISS_BYTES);
    const at = memory.find(region, tables, { from, patience });
    this.spent += MISS_BYTES * (patience - memory.patienceLeft);
    // Near the end a window may fit what is behind it.
    this.isSure = isExact && memory.patienceLeft > 0 && at + tables.longest <= region.length;
    return at;
  }
}
