import type { Root } from '../../fence/index.ts';
import { MisplacedLease } from './file-lease.ts';
import type { LeasedEntry } from './lease-key.ts';
import { leasesOf } from './leases.ts';
import { type ChangeAttempt, retryChange } from './retry-change.ts';
import { takeLease } from './take-lease.ts';

/** A file that is about to be changed. */
export interface LeasedFile {
  readonly root: Root;
  /** The names from the top of the root, for a file whose folder does not exist. */
  readonly names: readonly string[];
  /**
   * Finds the file as the work will. Undefined if its folder does not exist; if the work has found out that it needs
   * the folder (`MisplacedLease`), it is located again, and the folder made.
   */
  locate(makeParents: boolean): LocatedFile | undefined;
}

interface LocatedFile extends LeasedEntry, Disposable {
  readonly syncMade?: (() => Promise<void>) | undefined;
}

/** Options of `withLease`. */
export interface LeaseOptions {
  readonly signal: AbortSignal;
  /** Do the work without a lease if none can be had, because it would lose nothing but what it replaces anyway. */
  readonly optional?: boolean;
}

/**
 * Runs work that changes a file while this process has the lease on it, and after this machine sees the file as the
 * last holder has left it. Without leases in the root, the work is run as it is. What may pass is tried again, as
 * `retryChange` says. Folders that were made to know the file by are on disk at the end, and removed after a failure.
 *
 * Raises what the work and `takeLease` raise.
 */
export async function withLease<T>(
  { root, names, locate }: LeasedFile,
  { signal, optional = false }: LeaseOptions,
  work: (attempt: ChangeAttempt) => Promise<T>,
): Promise<T> {
  let makeParents = false;
  return retryChange([root], signal, async (attempt) => {
    if (leasesOf(root) === undefined) return work(attempt);
    using location = locate(makeParents);
    const at = location ?? { dir: root.top, name: names.join('/') };
    await using lease = await takeLease({ root, at }, { attempt, signal, optional, isMissing: location === undefined });
    attempt.lease = lease;
    try {
      const done = await work(attempt);
      await location?.syncMade?.();
      return done;
    } catch (error) {
      makeParents ||= error instanceof MisplacedLease;
      throw error;
    }
  });
}
