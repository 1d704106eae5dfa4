import { setTimeout as sleep } from 'node:timers/promises';
import { type CallerPath, isFenceError, isTransient, type Location, type Root } from '../../fence/index.ts';
import { isFileError } from '../errors.ts';
import { locateIfPresent } from '../locate-if-present.ts';
import { FileLease } from './file-lease.ts';
import { keyOf } from './lease-key.ts';
import { type Leases, leasesOf, PATIENCE_MS } from './leases.ts';
import { refreshed, seeLatest } from './see-latest.ts';

/** How often work is done again that did not find the file, which machines may not see for a moment. */
const MISSING_ATTEMPTS = 5;
/** Doubles with each attempt, up to the other. */
const FIRST_BACKOFF_MS = 20;
const MAX_BACKOFF_MS = 500;

/** Options of `withLease`. */
export interface LeaseOptions {
  readonly signal: AbortSignal;
  /** Do the work without a lease if none can be had, because it would lose nothing but what it replaces anyway. */
  readonly optional?: boolean;
}

/** One attempt to change a file. */
export class ChangeAttempt {
  /** The lease on the file; undefined where there is none. */
  readonly lease: FileLease | undefined;
  /** Whether the file was changed, so that the same must not be done again. */
  hasLanded = false;
  /** To be called once the file is changed. */
  readonly onLanded = (): void => {
    this.hasLanded = true;
  };

  constructor(lease?: FileLease) {
    this.lease = lease;
  }
}

/**
 * Runs work that changes a file while this process has the lease on it, and after this machine sees the file as the last
 * holder has left it. Without leases in the root, the work is run as it is. Work that fails because the lease was lost,
 * or because of something else that passes, is run again while a call may take, unless it has changed the file.
 *
 * Raises what the work raises, `busy` if others keep the lease, and `coordination_unavailable` if there is nobody to ask
 * for one.
 */
export async function withLease<T>(
  { root, path }: { readonly root: Root; readonly path: CallerPath },
  options: LeaseOptions,
  work: (attempt: ChangeAttempt) => Promise<T>,
): Promise<T> {
  const leases = leasesOf(root);
  if (leases === undefined) return work(new ChangeAttempt());
  const deadline = performance.now() + PATIENCE_MS;
  for (let attempts = 1; ; attempts += 1) {
    let attempt: ChangeAttempt | undefined;
    try {
      using location = locateIfPresent(root, path);
      await using lease = await take(leases, keyFor(root, path, location), { ...options, deadline });
      if (location !== undefined && attempts > 1) refreshed(location);
      if (lease !== undefined && location !== undefined) await seeLatest(lease, location);
      attempt = new ChangeAttempt(lease);
      return await work(attempt);
    } catch (error) {
      const mayPass = isTransient(error) || isFileError(error, 'lease_lost', 'changed_meanwhile');
      const mayShowUp = attempts < MISSING_ATTEMPTS && isFenceError(error, 'not_found') && !root.top.isLocal();
      const isLate = performance.now() > deadline || options.signal.aborted;
      if (isLate || attempt?.hasLanded || !(mayPass || mayShowUp)) throw error;
    }
    await sleep(Math.random() * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempts));
  }
}

async function take(
  leases: Leases,
  key: string,
  { signal, optional = false, deadline }: LeaseOptions & { readonly deadline: number },
): Promise<FileLease | undefined> {
  try {
    return new FileLease({ leases, key, optional, granted: await leases.acquire(key, signal, deadline) });
  } catch (error) {
    if (optional && isFileError(error, 'coordination_unavailable')) return undefined;
    throw error;
  }
}

/** Returns the key of a file; one whose folder is yet to be made is known by its path. */
function keyFor(root: Root, path: CallerPath, location: Location | undefined): string {
  return keyOf(location ?? { dir: root.top, name: path.segments.join('/') });
}
