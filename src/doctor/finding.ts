/** What was found out about one thing. */
export interface Finding {
  /** What it belongs to: `system`, `fence`, `guards`, `landlock`, or `root NAME`. */
  readonly area: string;
  readonly name: string;
  /** `info` is neither good nor bad. */
  readonly state: 'ok' | 'missing' | 'failed' | 'info';
  readonly detail: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** Makes the findings of one area. */
export function findingsIn(area: string) {
  return {
    ok: (name: string, detail: string): Finding => ({ area, name, state: 'ok', detail }),
    info: (name: string, detail: string): Finding => ({ area, name, state: 'info', detail }),
    missing: (name: string, detail: string, advice: string): Finding => ({
      area,
      name,
      state: 'missing',
      detail,
      advice,
    }),
    /** A guard that does not hold is a bug, or an attack on this installation. */
    failed: (name: string, detail: string): Finding => ({ area, name, state: 'failed', detail, advice: REPORT }),
  };
}

const REPORT = 'do not serve anything with this installation, and report it as SECURITY.md says';
