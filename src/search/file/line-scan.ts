import { lineStart, nextLineStart } from '../pattern/line-bounds.ts';
import type { LineMatcher } from '../pattern/line-matcher.ts';
import { type CandidateFinder, FALSE_POSITIVE_COST, GRACE_BYTES } from '../prefilter/prefilter.ts';

/** An iteration over the matching lines of one block of whole lines. */
export interface LineScan {
  /**
   * Returns an offset within the first matching line at or after `from`, or -1. `from` must be the start of a line and
   * must not decrease between calls.
   */
  next(from: number): number;
}

/** Runs the matcher on every line. */
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
  /** Called when the scan stops using the prefilter because it costs more than it saves. */
  gaveUp(): void;
}

/**
 * Runs the matcher on the lines that a prefilter reports. Once false positives cost more than scanning the bytes so far
 * would have, it runs the matcher on the rest of the block instead, so a bad prefilter slows a search down by a
 * constant factor at most.
 */
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
      const end = nextLineStart(block, at, block.length);
      const found = this.#matcher.next(block, start, end);
      if (found !== -1) return found;
      this.#spent += FALSE_POSITIVE_COST + end - start;
      floor = end;
    }
    return -1;
  }
}
