import { lineEnd, lineStart } from '../pattern/line-bounds.ts';
import type { LineMatcher } from '../pattern/line-matcher.ts';
import { type CandidateFinder, FALSE_POSITIVE_COST, GRACE_BYTES } from '../prefilter/prefilter.ts';

/** Goes through a region of whole lines, from one matching line to the next. */
export interface LineScan {
  /** An offset in the first matching line at or after `from`, where a line begins; or -1. `from` never decreases. */
  next(from: number): number;
}

/** Looks at every line. */
export class UnfilteredScan implements LineScan {
  readonly #block: Buffer;
  readonly #matcher: LineMatcher;

  constructor(block: Buffer, matcher: LineMatcher) {
    this.#block = block;
    this.#matcher = matcher;
  }

  next(from: number): number {
    return this.#matcher.next(this.#block, from, this.#block.length);
  }
}

interface ScanFilter {
  readonly matcher: LineMatcher;
  readonly finder: CandidateFinder;
  /** Told when the prefilter is left because it does not save time. */
  gaveUp(): void;
}

/** Looks at lines that a prefilter finds, as long as that saves time. */
export class PrefilteredScan implements LineScan {
  readonly #block: Buffer;
  readonly #matcher: LineMatcher;
  readonly #finder: CandidateFinder;
  readonly #filter: ScanFilter;
  #spent = 0;

  constructor(block: Buffer, filter: ScanFilter) {
    this.#block = block;
    this.#matcher = filter.matcher;
    this.#finder = filter.finder;
    this.#filter = filter;
  }

  next(from: number): number {
    const block = this.#block;
    for (let floor = from; floor < block.length; ) {
      if (this.#spent + this.#finder.spent > GRACE_BYTES + floor) {
        this.#filter.gaveUp();
        return this.#matcher.next(block, floor, block.length);
      }
      const at = this.#finder.next(floor);
      if (at === -1 || this.#finder.isExact) return at;
      const start = lineStart(block, floor, at);
      const end = lineEnd(block, at, block.length);
      const found = this.#matcher.next(block, start, end);
      if (found !== -1) return found;
      this.#spent += FALSE_POSITIVE_COST + end - start;
      floor = end;
    }
    return -1;
  }
}
