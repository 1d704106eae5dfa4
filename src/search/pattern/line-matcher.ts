/** Decides which lines match. */
export interface LineMatcher {
  /**
   * Returns an offset within the first matching line of `[from, to)`, or -1. `from` must be the start of a line and
   * `to` the end of one. Once the stop signal is raised, the result may be -1 in any case.
   */
  next(bytes: Buffer, from: number, to: number): number;
}

/** Reports whether the search should stop. */
export interface StopSignal {
  readonly raised: boolean;
}
