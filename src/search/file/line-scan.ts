import { type LineMatcher, lineStart, nextLineStart } from '../pattern/line-matcher.ts';
import { type CandidateFinder, FALSE_POSITIVE_COST, GRACE_BYTES } from '../prefilter/prefilter.ts';

/** An iteration over the matching lines of one block of whole lines. */
export interface LineScan {
  /**
   * Returns an offset within the first matching line at or after `from`, -1, or `PAUSED`. `from` must be the start of a
   * line and must not decrease between calls.
   */
  next(from: number): number;
  /** Continues a call that returned `PAUSED`, and returns what `next` would have. A scan that never pauses lacks it. */
  resume?(): number;
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

  resume(): number {
    return this.#matcher.resume();
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
  /** The lines that the matcher is at. */
  #start = 0;
  #end = 0;

  constructor(block: Buffer, filter: ScanFilter) {
    this.#block = block;
    this.#matcher = filter.matcher;
    this.#finder = filter.finder;
    this.#filter = filter;
  }

  next(from: number): number {
    const block = this.#block;
    for (let floor = from; floor < block.length; floor = this.#end) {
      if (this.#spent + this.#finder.spent > GRACE_BYTES + floor) {
        this.#filter.gaveUp();
        this.#end = block.length;
        return this.#matcher.next(block, floor, block.length);
      }
      const at = this.#finder.next(floor);
      if (at === -1 || this.#finder.isExact) return at;
      this.#start = lineStart(block, floor, at);
      this.#end = nextLineStart(block, at, block.length);
      const found = this.#matcher.next(block, this.#start, this.#end);
      if (found !== -1) return found;
      this.#spent += FALSE_POSITIVE_COST + this.#end - this.#start;
    }
    return -1;
  }

  resume(): number {
    const found = this.#matcher.resume();
    if (found !== -1) return found;
    this.#spent += FALSE_POSITIVE_COST + this.#end - this.#start;
    return this.next(this.#end);
  }
}
