import type { Root } from '../../fence/index.ts';
import { isFileError } from '../errors.ts';
import { FileLease } from './file-lease.ts';
import { keyOf, type LeasedEntry } from './lease-key.ts';
import { leasesOf } from './leases.ts';
import type { ChangeAttempt } from './retry-change.ts';
import { refreshed, seeLatest } from './see-latest.ts';

/** An entry to take the lease on, and the root by which it is reached. */
export interface LeaseTarget {
  readonly root: Root;
  readonly at: LeasedEntry;
}

/** Options of `takeLease`. */
export interface TakeLeaseOptions {
  readonly attempt: ChangeAttempt;
  readonly signal: AbortSignal;
  /** Do without a lease if none can be had, because nothing is lost but what is replaced or removed anyway. */
  readonly optional: boolean;
  /** Nothing can be at the entry yet. */
  readonly isMissing?: boolean;
}

/**
 * Takes the lease on an entry, and waits until this machine sees it as the last holder has left it. Undefined if no
 * other machine changes the files of the root, or if the lease is optional and the store has been gone for seconds.
 *
 * Raises `busy` if others keep the lease, `coordination_unavailable`, `changed_meanwhile` if what the last holder has
 * left does not show up, and the reason of an aborted signal.
 */
export async function takeLease(
  { root, at }: LeaseTarget,
  { attempt, signal, optional, isMissing = false }: TakeLeaseOptions,
): Promise<FileLease | undefined> {
  const leases = leasesOf(root);
  if (leases === undefined) return undefined;
  const key = keyOf(at);
  let lease: FileLease;
  try {
    const granted = await leases.acquire(key, { signal, deadline: attempt.deadline });
    lease = new FileLease({ leases, key, optional, signal, granted });
  } catch (error) {
    if (optional && isFileError(error, 'coordination_unavailable')) return undefined;
    throw error;
  }
  if (isMissing) return lease;
  try {
    if (!attempt.isFirst) refreshed(at);
    await seeLatest(lease, at, signal);
    leases.ready(key);
    return lease;
  } catch (error) {
    await lease[Symbol.asyncDispose]();
    throw error;
  }
}
