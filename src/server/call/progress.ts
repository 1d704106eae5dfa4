const INTERVAL_MS = 100;

export type Report = (done: number, total?: number) => void;

export interface Progress {
  readonly progressToken: string | number;
  readonly progress: number;
  readonly total?: number;
}

const NOBODY_ASKED: Report = () => {};

/** Reports progress to a client that asked for it, about ten times a second, always upwards; does nothing for others. */
export function progressReports(
  progressToken: string | number | undefined,
  notify: (progress: Progress) => void,
): Report {
  if (progressToken === undefined) return NOBODY_ASKED;
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
