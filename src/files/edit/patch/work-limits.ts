/** The most lines, each of a file and of a patch, that are split and hashed in a few milliseconds. */
const QUICK_LINES = 20_000;
/** The most line comparisons in hunk searches that take a few milliseconds. */
export const QUICK_COMPARISONS = 50_000;

/**
 * The line comparisons that all hunk searches of one patch may spend together. A hunk found at its stated line costs
 * none. The limit stops a patch and a file crafted to make the search quadratic; the hunk then counts as not found.
 */
export const MAX_COMPARISONS = 20_000_000;

/** Options of `applyPatch`. */
export interface PatchOptions {
  /**
   * Raise `WorkLimitExceeded` for work that would take longer than a few milliseconds, counted in lines and
   * comparisons.
   */
  readonly workLimited?: boolean;
}

/** Raised instead of doing work that would block the calling thread for longer than a few milliseconds. */
export class WorkLimitExceeded extends Error {
  constructor() {
    super('work limit exceeded');
    this.name = 'WorkLimitExceeded';
  }
}

/** Raises `WorkLimitExceeded` if one of the texts has too many lines to be processed in a few milliseconds. */
export function assertWithinWorkLimit(...texts: readonly string[]): void {
  for (const text of texts) {
    let left = QUICK_LINES;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
      left -= 1;
      if (left === 0) throw new WorkLimitExceeded();
    }
  }
}
