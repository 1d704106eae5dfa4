import { lineEnd, lineStart } from '../pattern/line-bounds.ts';
import type { LineMatcher } from '../pattern/line-matcher.ts';
import { type Finder, PATIENCE, VAIN } from '../prefilter/prefilter.ts';

/** Goes through a region of whole lines, from one matching line to the next. */
export interface LineScan {
  /** An offset in the first matching line at or after `from`, where a line begins; or -1. `from` never decreases. */
  next(from: number): number;
}

/** Looks at every line. */
export class PlainScan implements LineScan {
  readonly #region: Buffer;
  readonly #matcher: LineMatcher;

  constructor(region: Buffer, matcher: LineMatcher) {
    this.#region = region;
    this.#matcher = matcher;
  }

  next(from: number): number {
    return this.#matcher.next(this.#region, from, this.#region.length);
  }
}

interface Filter {
  readonly matcher: LineMatcher;
  readonly finder: Finder;
  /** Told when the prefilter is left because it does not save time. */
  gaveUp(): void;
}

/** Looks at lines that a prefilter finds, as long as that saves time. */
export class FilteredScan implements LineScan {
  readonly #region: Buffer;
  readonly #matcher: LineMatcher;
  readonly #finder: Finder;
  readonly #filter: Filter;
  #spent = 0;

  constructor(region: Buffer, filter: Filter) {
    this.#region = region;
    this.#matcher = filter.matcher;
    this.#finder = filter.finder;
    this.#filter = filter;
  }

  next(from: number): number {
    const region = this.#region;
    for (let floor = from; floor < region.length; ) {
      if (this.#spent + this.#finder.spent > PATIENCE + floor) {
        this.#filter.gaveUp();
        return this.#matcher.next(region, floor, region.length);
      }
      const at = this.#finder.next(floor);
      if (at === -1 || this.#finder.isSure) return at;
      const start = lineStart(region, floor, at);
      const end = lineEnd(region, at, region.length);
      const found = this.#matcher.next(region, start, end);
      if (found !== -1) return found;
      this.#spent += VAIN + end - start;
      floor = end;
    }
    return -1;
  }
}
