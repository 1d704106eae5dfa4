import { fromSystem, isFenceError, isTransient, type Root } from '../../fence/index.ts';
import { cancellableSleep } from '../../runtime/operation-context.ts';
import { isFileError } from '../errors.ts';
import type { LeasedEntry } from '../lease/lease-key.ts';
import { leasesOf } from '../lease/leases.ts';
import { refreshed } from '../lease/see-latest.ts';

/** How often an entry is tried that cannot be read for a moment: in all for longer than machines have it cached. */
const ATTEMPTS = 8;
/** How often one is tried that is not found: it may be removed rather than replaced. */
const MISSING_ATTEMPTS = 5;
/** Doubles with each attempt, up to the other. */
const FIRST_BACKOFF_MS = 20;
const MAX_BACKOFF_MS = 500;

/** An entry of a tree that other machines may change while it is copied. */
export interface RetriedEntry extends LeasedEntry {
  readonly root: Root;
  readonly signal: AbortSignal;
}

/**
 * Runs work on an entry that its folder lists. If other machines change the files of the root, work that fails because
 * the entry is just being replaced, or for another reason that may pass (`isTransient`), is run again a few times, as
 * is work that fails with `changed_meanwhile`. The work must be repeatable: an attempt that failed may have taken
 * effect. Raises what the work raises, and the reason of an aborted signal.
 */
export async function retryEntry<T>({ root, dir, name, signal }: RetriedEntry, work: () => T | Promise<T>): Promise<T> {
  if (leasesOf(root) === undefined) return work();
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (attempt > 1) refreshed({ dir, name });
      return await work();
    } catch (thrown) {
      const error = fromSystem(thrown);
      const mayPass = isTransient(error) || isFileError(error, 'changed_meanwhile');
      const attempts = mayPass ? ATTEMPTS : isFenceError(error, 'not_found') ? MISSING_ATTEMPTS : 1;
      if (attempt >= attempts || signal.aborted) throw thrown;
    }
    await cancellableSleep(Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1)), signal);
  }
}
