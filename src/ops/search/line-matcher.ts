/** Decides which lines match. */
export interface LineMatcher {
  /** An offset in the first matching line from `from`, where a line begins, to before `to`, where one ends; or -1. */
  next(bytes: Buffer, from: number, to: number): number;
}
