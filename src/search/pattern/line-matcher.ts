/** Returned instead of an offset by a matcher or a scan that lets others run: `resume` continues where it is. */
export const PAUSED = -2;

/**
 * Work after which a matcher pauses, in instructions of the program that a Pike VM visits. It takes a few milliseconds,
 * for which a DFA whose states are known reads megabytes.
 */
export const WORK_PER_TURN = 200_000;

/** Decides which lines match. */
export interface LineMatcher {
  /**
   * Returns an offset within the first matching line of `[from, to)`, -1, or `PAUSED`. `from` must be the start of a
   * line and `to` the end of one. Once the stop signal is raised, the result may be -1 in any case.
   */
  next(bytes: Buffer, from: number, to: number): number;
  /** Continues a call that returned `PAUSED`, on the same bytes, and returns what `next` would have. */
  resume(): number;
}

/** Reports whether the search should stop. */
export interface StopSignal {
  readonly raised: boolean;
}

const LF = 0x0a;

/** Returns the start of the line around `at`. `floor` must be the start of a line at or before it. */
export function lineStart(bytes: Buffer, floor: number, at: number): number {
  return at === floor ? floor : Math.max(floor, bytes.lastIndexOf(LF, at - 1) + 1);
}

/** Returns the start of the line after the one around `at`, but at most `to`. */
export function nextLineStart(bytes: Buffer, at: number, to: number): number {
  if (at >= to) return to;
  const lf = bytes.indexOf(LF, at);
  return lf === -1 || lf >= to ? to : lf + 1;
}
