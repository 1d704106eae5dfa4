import type { History, PastStep } from '../history/index.ts';

/** Finds out whether steps happened about which the log does not say so, because their process was killed. */
export class Settler {
  constructor(_history: History) {}

  /** Reports whether a step happened. Ask for every step, newest first. */
  happened({ done, cancelled }: PastStep): boolean {
    return done !== undefined || !cancelled;
  }
}

/** Notes in the log whether the steps happened that killed processes left open, and lets go of what was kept for others. */
export function settle(_history: History): number {
  return 0;
}
