/** A cheap way to find lines that are worth a closer look. */
export interface Prefilter {
  /** Nanoseconds per byte of typical text, with the closer looks, as estimated. */
  readonly cost: number;
  over(region: Buffer): Finder;
}

/** A prefilter at work on a region of whole lines. */
export interface Finder {
  /** A place in the first line at or after `from` that may match, or -1 if none may. `from` never decreases. */
  next(from: number): number;
  /** How many bytes could have been scanned by other means in the time that was lost. */
  readonly lost: number;
}

/** What a closer look at a line in vain costs, in nanoseconds and in bytes that could have been scanned instead. */
export const VAIN = 200;
