/** A cheap way to find lines that are worth a closer look, put to work on a region of whole lines. */
export type Prefilter = (block: Buffer) => CandidateFinder;

export interface CandidateFinder {
  /** A place in the first line at or after `from` that may match, or -1 if none may. `from` never decreases. */
  next(from: number): number;
  /** What it found last is a match, without a closer look. */
  readonly isExact?: boolean;
  /** How many bytes could have been scanned by other means in the time that it took so far. */
  readonly spent: number;
}

/** What a prefilter would be like, before it is built. */
export interface PrefilterPlan {
  /** Nanoseconds per byte of typical text, with the closer looks, roughly. */
  readonly cost: number;
  build(): Prefilter;
}

/** What a closer look at a line in vain costs: nanoseconds, and also bytes that could have been scanned instead. */
export const FALSE_POSITIVE_COST = 200;

/** A prefilter may be in vain for so many bytes before it has to prove its worth. */
export const GRACE_BYTES = 4096;
