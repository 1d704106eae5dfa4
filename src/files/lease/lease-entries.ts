import type { Root } from '../../fence/index.ts';
import { isFileError } from '../errors.ts';
import { FileLease } from './file-lease.ts';
import { keyOf, type LeasedEntry } from './lease-key.ts';
import { leasesOf } from './leases.ts';
import { seeLatest } from './see-latest.ts';

interface RootEntry {
  readonly root: Root;
  readonly at: LeasedEntry;
}

/**
 * Takes the leases on entries that are about to be moved or removed, so that no edit of another server brings them back.
 * Undefined where there are no leases, or none can be had: then this is done without, because nothing is lost by it that
 * it does not remove anyway. Raises `busy`, and the reason of an aborted signal.
 */
export async function leaseEntries(
  entries: readonly RootEntry[],
  signal: AbortSignal,
): Promise<AsyncDisposable | undefined> {
  if (entries.every(({ root }) => leasesOf(root) === undefined)) return undefined;
  const held: { lease: FileLease; at: LeasedEntry }[] = [];
  const release = async (): Promise<void> => {
    for (const { lease, at } of held.splice(0)) {
      lease.leaves(at.dir.lstat(at.name));
      await lease[Symbol.asyncDispose]();
    }
  };
  const byKey = new Map(entries.map((entry) => [keyOf(entry.at), entry]));
  try {
    // In an order that is the same for everyone, so that no two servers wait for each other.
    for (const key of [...byKey.keys()].sort()) {
      const { root, at } = byKey.get(key) as RootEntry;
      const leases = leasesOf(root);
      if (leases === undefined) continue;
      const lease = new FileLease({ leases, key, optional: true, granted: await leases.acquire(key, signal) });
      held.push({ lease, at });
      await seeLatest(lease, at);
    }
  } catch (error) {
    await release();
    if (isFileError(error, 'coordination_unavailable')) return undefined;
    throw error;
  }
  return { [Symbol.asyncDispose]: release };
}
