import type { Stats } from 'node:fs';
import { FenceError } from '../../fence/index.ts';
import type { FileLease } from './file-lease.ts';
import { keyOf, type LeasedEntry } from './lease-key.ts';
import { leasesOf } from './leases.ts';
import type { ChangeAttempt } from './retry-change.ts';
import { type LeaseTarget, type TakeLeaseOptions, takeLease } from './take-lease.ts';

interface HeldLease {
  readonly lease: FileLease;
  readonly at: LeasedEntry;
}

/** The leases on entries that are about to be moved or removed. Dispose of it to end them. */
export class EntryLeases implements AsyncDisposable {
  readonly #attempt: ChangeAttempt;
  readonly #held: readonly HeldLease[];
  readonly #wanted: number;

  constructor(attempt: ChangeAttempt, held: readonly HeldLease[], wanted: number) {
    this.#attempt = attempt;
    this.#held = held;
    this.#wanted = wanted;
  }

  /**
   * Whether there is a lease on each entry. Then their folders need no lock, which a server that is stopped, or waits
   * for the store, would keep from all others of its machine.
   */
  get areComplete(): boolean {
    return this.#wanted > 0 && this.#held.length === this.#wanted;
  }

  /** Confirms each lease. Raises what `FileLease.confirm` raises. */
  async confirm(): Promise<void> {
    await Promise.all(this.#held.map(({ lease }) => lease.confirm()));
  }

  /**
   * Makes the change, which begins before this returns. Nothing of the attempt is tried again after that, since a
   * failure does not tell whether the change was made; and only after a success the next holders are told what to find.
   */
  async change<T>(make: () => T | Promise<T>): Promise<T> {
    this.#attempt.onLanded();
    for (const { lease } of this.#held) lease.leavesUnknown();
    const before = this.#stat();
    const made = await make();
    const after = this.#stat();
    for (const [index, { lease }] of this.#held.entries()) {
      const moved = after.find((stats) => stats !== undefined && stats?.ino === before[index]?.ino);
      // Of what could not be looked at, the next holder finds out by itself.
      if (after[index] !== null) lease.leaves(after[index], moved ?? undefined);
    }
    return made;
  }

  /** Stats all entries; null for one that cannot be looked at. */
  #stat(): (Stats | undefined | null)[] {
    return this.#held.map(({ at }) => {
      try {
        return at.dir.lstat(at.name);
      } catch (error) {
        if (!(error instanceof FenceError)) throw error;
        return null;
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { lease } of this.#held) await lease[Symbol.asyncDispose]();
  }
}

/**
 * Takes the leases on entries that are about to be moved or removed, so that no edit of another server brings them
 * back. Raises what `takeLease` raises.
 */
export async function leaseEntries(entries: readonly LeaseTarget[], options: TakeLeaseOptions): Promise<EntryLeases> {
  const isCoordinated = entries.some(({ root }) => leasesOf(root) !== undefined);
  const byKey = new Map((isCoordinated ? entries : []).map((entry) => [keyOf(entry.at), entry]));
  const held: HeldLease[] = [];
  const leases = new EntryLeases(options.attempt, held, byKey.size);
  try {
    // In an order that is the same for everyone, so that no two servers wait for each other.
    for (const key of [...byKey.keys()].sort()) {
      const entry = byKey.get(key) as LeaseTarget;
      const lease = await takeLease(entry, options);
      if (lease !== undefined) held.push({ lease, at: entry.at });
    }
    return leases;
  } catch (error) {
    await leases[Symbol.asyncDispose]();
    throw error;
  }
}
