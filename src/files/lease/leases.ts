import { setTimeout as sleep } from 'node:timers/promises';
import { RingfenceError } from '../../errors.ts';
import { FenceError, type Root } from '../../fence/index.ts';
import { throwIfAborted } from '../../runtime/operation-context.ts';
import { FileError } from '../errors.ts';
import type { LeaseGrant, LeaseStore } from './lease-store.ts';

/** How long a lease lasts whose holder has died. */
export const LEASE_MS = 8_000;
/** How long to try to change a file: longer than dead holders keep it, and shorter than a call may take by default. */
export const PATIENCE_MS = 28_000;
/** For how long the store may be gone before calls no longer wait for it: a restart takes less. */
const OUTAGE_MS = 4_000;
const OUTAGE_RETRY_MS = 100;
/** How many overruled notes are known. */
const MAX_OVERRULED = 1_000;
const MIN_POLL_MS = 1;
const MAX_POLL_MS = 10;

/** The leases on the files of the roots that other machines change, too. */
const leasesByRoot = new WeakMap<Root, Leases>();

/** Returns where the leases on files of a root come from. Undefined if no other machine changes its files. */
export function leasesOf(root: Root): Leases | undefined {
  return leasesByRoot.get(root);
}

/** A lease that was granted. */
export type Granted = Extract<LeaseGrant, { granted: true }>;

/** Takes leases of a store, and waits for those that others hold. */
export class Leases {
  readonly store: LeaseStore;
  readonly #overruled = new Map<string, string>();
  #unavailableSince: number | undefined;

  constructor(store: LeaseStore) {
    this.store = store;
  }

  /** Has edits, overwrites and appends of the files of a root take leases of this store from now on. */
  coordinate(root: Root): void {
    leasesByRoot.set(root, this);
  }

  /**
   * Waits for the lease of a key. Raises `busy` if others keep it for too long, `coordination_unavailable` if the store
   * has been gone for seconds, and the reason of an aborted signal.
   */
  async acquire(key: string, signal: AbortSignal, deadline = performance.now() + PATIENCE_MS): Promise<Granted> {
    for (;;) {
      throwIfAborted(signal);
      const grant = await this.#ask(() => this.store.acquireLease(key, LEASE_MS));
      if (grant.granted) return grant;
      if (performance.now() > deadline) throw new FenceError('busy', {});
      await sleep(MIN_POLL_MS + Math.random() * (MAX_POLL_MS - MIN_POLL_MS));
    }
  }

  /** Returns the last note that a holder of a lease has left; undefined if there is none, or nobody can be asked. */
  async noteOf(key: string): Promise<string | undefined> {
    try {
      return await this.store.leaseNote(key);
    } catch (error) {
      if (error instanceof RingfenceError) return undefined;
      throw error;
    }
  }

  /** Remembers that what a note says is no longer so, because another program has changed the file since. */
  overrule(key: string, note: string): void {
    if (this.#overruled.size >= MAX_OVERRULED) this.#overruled.clear();
    this.#overruled.set(key, note);
  }

  /** Reports whether what a note says is known to be no longer so. */
  isOverruled(key: string, note: string): boolean {
    return this.#overruled.get(key) === note;
  }

  /** Renews a lease, and reports whether it still was one. Raises `coordination_unavailable`. */
  renew(key: string, token: number): Promise<boolean> {
    return this.#ask(() => this.store.renewLease(key, token, LEASE_MS));
  }

  /** Asks the store, again and again while it has only just gone. */
  async #ask<T>(question: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const answer = await question();
        this.#unavailableSince = undefined;
        return answer;
      } catch (error) {
        if (!(error instanceof RingfenceError)) throw error;
        const now = performance.now();
        this.#unavailableSince ??= now;
        if (now - this.#unavailableSince > OUTAGE_MS) {
          throw new FileError('coordination_unavailable', {}, { cause: error });
        }
      }
      await sleep(OUTAGE_RETRY_MS);
    }
  }
}
