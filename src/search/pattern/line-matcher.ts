/** Decides which lines match. */
export interface LineMatcher {
  /**
   * An offset in the first matching line from `from`, where a line begins, to before `to`, where one ends; or -1.
   * Once the search is to stop, it may be -1 in any case.
   */
  next(bytes: Buffer, from: number, to: number): number;
}

/** Tells whether the search is to stop. */
export interface StopSignal {
  readonly raised: boolean;
}
