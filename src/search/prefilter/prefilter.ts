/** Starts a cheap scan of a block of whole lines for lines that may match. */
export type Prefilter = (block: Buffer) => CandidateFinder;

/**
 * A scan of one block for lines that may match. It may report lines that do not match but never misses one that does.
 */
export interface CandidateFinder {
  /**
   * Returns an offset within the first line at or after `from` that may match, or -1 if there is none. `from` must not
   * decrease between calls.
   */
  next(from: number): number;
  /** Whether the last result is known to be a match, so that the matcher need not run. */
  readonly isExact?: boolean;
  /** Cost of false positives so far, in bytes that the matcher could have scanned in the same time. */
  readonly spent: number;
}

/** A prefilter that is not built yet, with its estimated cost. */
export interface PrefilterPlan {
  /** Estimated nanoseconds per byte of typical text, including the verification of candidates. */
  readonly cost: number;
  build(): Prefilter;
}

/**
 * Cost of running the matcher on a line that does not match, in nanoseconds and in bytes that the DFA scans in that
 * time.
 */
export const FALSE_POSITIVE_COST = 200;

/** Cost in bytes that a prefilter may have before it is compared with the bytes it saved. */
export const GRACE_BYTES = 4096;
