const INTERVAL_MS = 100;

/** Reports how much of a call is done, and of how much where that is known. */
export type ReportProgress = (done: number, total?: number) => void;

/** The parameters of `notifications/progress`. */
export interface Progress {
  readonly progressToken: string | number;
  readonly progress: number;
  readonly total?: number;
}

/**
 * Returns a function that notifies the client of progress, at most ten times a second and only of values that increase.
 */
export function progressReports(progressToken: string | number, notify: (progress: Progress) => void): ReportProgress {
  let next = 0;
  let last = -1;
  return (progress, total) => {
    const now = performance.now();
    if (now < next || progress <= last) return;
    next = now + INTERVAL_MS;
    last = progress;
    notify({ progressToken, progress, ...(total !== undefined && { total }) });
  };
}
