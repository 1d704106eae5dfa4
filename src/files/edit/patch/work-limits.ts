/** What some milliseconds suffice for: lines of a file and of a patch, and comparisons of lines in a search. */
const QUICK_LINES = 20_000;
export const QUICK_COMPARISONS = 50_000;

export interface PatchOptions {
  /** Raise `TimeLimitExceeded` instead of working for longer than some milliseconds. */
  readonly timeLimited?: boolean;
}

/** What was to be quick would take long. */
export class TimeLimitExceeded extends Error {
  constructor() {
    super('it would take long');
    this.name = 'TimeLimitExceeded';
  }
}

export function assertWithinTimeLimit(...texts: readonly string[]): void {
  for (const text of texts) {
    let left = QUICK_LINES;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
      left -= 1;
      if (left === 0) throw new TimeLimitExceeded();
    }
  }
}
