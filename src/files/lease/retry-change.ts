import { fromSystem, isFenceError, isTransient, type Root } from '../../fence/index.ts';
import { cancellableSleep } from '../../runtime/operation-context.ts';
import { isFileError } from '../errors.ts';
import type { FileLease } from './file-lease.ts';
import { CHANGE_PATIENCE_MS, leasesOf } from './leases.ts';

/** How often a change is tried that did not find its file, which machines may not see for a moment. */
const MISSING_CHANGE_ATTEMPTS = 5;
/** Doubles with each attempt, up to the other. */
const FIRST_BACKOFF_MS = 20;
const MAX_BACKOFF_MS = 500;

/** One attempt to change something. */
export class ChangeAttempt {
  readonly isFirst: boolean;
  /** When to give up waiting, as `performance.now` counts. */
  readonly deadline: number;
  /** The lease on the file; undefined where there is none. */
  lease: FileLease | undefined;
  /** Whether the change was made, or may have been, so that the same must not be done again. */
  mayHaveLanded = false;
  /** To be called once the change is made, or before a system call whose failure does not tell whether it made it. */
  readonly onLanded = (): void => {
    this.mayHaveLanded = true;
  };

  constructor(isFirst = true, deadline = performance.now() + CHANGE_PATIENCE_MS) {
    this.isFirst = isFirst;
    this.deadline = deadline;
  }
}

/**
 * Runs work that changes something in roots. If other machines change the files of one of them, too, work that fails
 * for a reason that may pass is run again while a call may take, unless it may have made its change: what a shared file
 * system answers now and then (`isTransient`), `lease_lost`, `changed_meanwhile`, and, a few times, a file that is not
 * found. Raises what the work raises, and the reason of an aborted signal.
 */
export async function retryChange<T>(
  roots: readonly Root[],
  signal: AbortSignal,
  work: (attempt: ChangeAttempt) => Promise<T>,
): Promise<T> {
  if (roots.every((root) => leasesOf(root) === undefined)) return work(new ChangeAttempt());
  const deadline = performance.now() + CHANGE_PATIENCE_MS;
  for (let attempts = 1; ; attempts += 1) {
    const attempt = new ChangeAttempt(attempts === 1, deadline);
    try {
      for (const root of roots) await leasesOf(root)?.awaitFolderMoves(root, signal);
      return await work(attempt);
    } catch (thrown) {
      const error = fromSystem(thrown);
      const mayPass = isTransient(error) || isFileError(error, 'lease_lost', 'changed_meanwhile');
      const isMissing = attempts < MISSING_CHANGE_ATTEMPTS && isFenceError(error, 'not_found');
      const mayShowUp = isMissing && roots.some((root) => !root.top.isLocal());
      const isLate = performance.now() > deadline || signal.aborted;
      if (isLate || attempt.mayHaveLanded || !(mayPass || mayShowUp)) throw thrown;
    }
    await cancellableSleep(Math.random() * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempts), signal);
  }
}
