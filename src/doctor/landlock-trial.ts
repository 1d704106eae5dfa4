import type { LandlockPolicy, LandlockStatus } from '../hardening/landlock.ts';

/** What the probe is told: its limits, and where to try them. */
export interface LandlockTrial {
  readonly policy: LandlockPolicy;
  readonly writable: string;
  readonly readable: string;
  readonly outside: string;
  readonly port: number;
  readonly otherPort: number;
  /** A program that could be run without Landlock. */
  readonly program: string;
}

/** What came of each attempt: `done`, or the code of the error. */
export interface TrialOutcomes {
  readonly status: LandlockStatus;
  readonly outcomes: Readonly<Record<string, string>>;
}
