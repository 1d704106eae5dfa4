import { setTimeout as sleep } from 'node:timers/promises';
import { type Dir, fromSystem, isTransient } from '../../fence/index.ts';
import type { ChangeAttempt } from '../lease/retry-change.ts';
import { CACHED_MS } from '../lease/stamp.ts';

/** What a step changes. */
interface Step {
  readonly dir: Dir;
  /** Reports whether the step was made, from what the file system shows without its caches. */
  isDone(): boolean;
}

/**
 * Makes one step of a change by a system call. The error of a shared file system does not tell whether the call has
 * taken effect, so it is looked at once all caches have expired. Raises what the call raises if it had no effect; the
 * attempt may be made again then.
 */
export async function attemptStep(
  attempt: ChangeAttempt,
  { dir, isDone }: Step,
  make: () => void | Promise<void>,
): Promise<void> {
  attempt.onLanded();
  try {
    await make();
  } catch (error) {
    if (!isTransient(fromSystem(error))) throw error;
    if (!dir.isLocal()) await sleep(CACHED_MS);
    if (isDone()) return;
    attempt.mayHaveLanded = false;
    throw error;
  }
}
