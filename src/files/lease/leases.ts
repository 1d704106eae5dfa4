import { randomBytes } from 'node:crypto';
import { RingfenceError } from '../../errors.ts';
import { FenceError, type Root } from '../../fence/index.ts';
import { atMost } from '../../runtime/at-most.ts';
import { cancellableSleep, throwIfAborted } from '../../runtime/operation-context.ts';
import { FileError, isFileError } from '../errors.ts';
import { FolderMoves } from './folder-moves.ts';
import { LeaseQueue, type LeaseWait } from './lease-queue.ts';
import type { Granted, LeaseStore } from './lease-store.ts';

/**
 * How long a lease lasts whose holder has died: a call may have to wait for two of them. A holder that was only slow
 * has its change tried again.
 */
const FILE_LEASE_MS = 5_000;
/** How long to try to change a file: longer than dead holders keep it, and shorter than a call may take by default. */
export const CHANGE_PATIENCE_MS = 28_000;
/** For how long the store may be gone before calls no longer wait for it: a restart takes less. */
const OUTAGE_MS = 4_000;
const OUTAGE_RETRY_MS = 100;
/** An outage that no call has met for so long is over: the next one begins anew. */
const OUTAGE_FORGOTTEN_MS = 30_000;
/** How long a read waits for the note of its file. */
const NOTE_MS = 200;
/** For how long notes may be missing after the store did not return one: longer than a restart and all caches take. */
const LACKING_MS = 10_000;
/** How many overruled notes are remembered. */
const MAX_OVERRULED = 1_000;
const MIN_POLL_MS = 1;
const MAX_POLL_MS = 10;

/** The leases on the files of the roots that other machines change, too. */
const leasesByRoot = new WeakMap<Root, Leases>();

/** Returns where the leases on files of a root come from. Undefined if no other machine changes its files. */
export function leasesOf(root: Root): Leases | undefined {
  return leasesByRoot.get(root);
}

/** Options of `Leases`. */
interface LeasesOptions {
  /** How long a lease lasts whose holder has died; by default five seconds. */
  readonly leaseMs?: number;
}

/** Takes leases of a store, and waits for those that others hold. */
export class Leases {
  readonly store: LeaseStore;
  /** How long a lease lasts that is not renewed. */
  readonly leaseMs: number;
  readonly #overruled = new Map<string, string>();
  readonly #shared = new WeakMap<Root, boolean>();
  readonly #queue = new LeaseQueue();
  /** Stands for this process, of which one call at a time asks for a lease, while none holds it. */
  readonly #owner = randomBytes(12).toString('base64url');
  readonly #folderMoves = new FolderMoves(this);
  /** When the store last did not return a note. */
  #missedAt = Number.NEGATIVE_INFINITY;
  #outage: { readonly since: number; readonly lastMet: number } | undefined;

  constructor(store: LeaseStore, { leaseMs = FILE_LEASE_MS }: LeasesOptions = {}) {
    this.store = store;
    this.leaseMs = leaseMs;
  }

  /** Has edits, overwrites and appends of the files of a root take leases of this store from now on. */
  coordinate(root: Root): void {
    leasesByRoot.set(root, this);
  }

  /**
   * Reports whether other machines can have the file system of a root mounted, so that what they change may not be seen
   * at once. Asked once for each root, because the answer may come from another machine.
   */
  isShared(root: Root): boolean {
    const known = this.#shared.get(root);
    if (known !== undefined) return known;
    const isShared = !root.top.isLocal();
    this.#shared.set(root, isShared);
    return isShared;
  }

  /**
   * Waits for the lease of a key. Raises `busy` if others keep it for too long, `coordination_unavailable` if the store
   * has been gone for seconds, and the reason of an aborted signal.
   */
  async acquire(key: string, wait: LeaseWait): Promise<Granted> {
    const { signal, deadline } = wait;
    throwIfAborted(signal);
    const turn = this.#queue.enter(key, wait);
    const handedOn = await turn;
    if (handedOn !== undefined) return handedOn;
    try {
      // Other servers have waited longer than this call for its turn: they ask at least once before it does.
      if (turn !== undefined) await cancellableSleep(MAX_POLL_MS, signal);
      for (;;) {
        const grant = await this.#ask(() => this.store.acquireLease(key, this.leaseMs, this.#owner), signal);
        if (grant.granted) {
          this.#queue.granted(key);
          return grant;
        }
        if (performance.now() > deadline) throw new FenceError('busy', {});
        await cancellableSleep(MIN_POLL_MS + Math.random() * (MAX_POLL_MS - MIN_POLL_MS), signal);
      }
    } catch (error) {
      // Calls that wait meet the same outage: one after another, they would wait for longer than it is waited for.
      if (isFileError(error, 'coordination_unavailable')) this.#queue.fail(key, () => unavailableError(error.cause));
      else this.#queue.leave(key);
      throw error;
    }
  }

  /** Notes that the holder of a lease sees what it is about to change. */
  ready(key: string): void {
    this.#queue.ready(key);
  }

  /**
   * Ends a lease that `acquire` has returned, with a note for the next holder unless that is undefined. A store that
   * cannot be reached ends it itself before long.
   */
  async release(key: string, token: number, note: string | undefined): Promise<void> {
    let handedOn: Granted | undefined;
    try {
      if (note !== undefined && this.#queue.shouldHandOn(key)) {
        const grant = await this.store.handOnLease(key, token, note, this.leaseMs);
        if (grant.granted) handedOn = grant;
      } else await this.store.releaseLease(key, token, note);
    } catch (error) {
      if (!(error instanceof RingfenceError)) throw error;
    } finally {
      const isTaken = this.#queue.leave(key, handedOn);
      // The call that waited has given up since.
      if (handedOn !== undefined && !isTaken) await this.store.releaseLease(key, handedOn.token, note).catch(() => {});
    }
  }

  /**
   * Returns the last note that a holder of a lease has left; undefined if there is none, or the store does not say so
   * at once: reads do not wait for a slow one.
   */
  async noteOf(key: string): Promise<string | undefined> {
    try {
      return await atMost(NOTE_MS, this.store.leaseNote(key), () => this.#missNote());
    } catch (error) {
      if (error instanceof RingfenceError) return this.#missNote();
      throw error;
    }
  }

  /** Whether the store could not say lately what a holder has left, and may have lost it since. */
  get mayLackNotes(): boolean {
    return performance.now() - this.#missedAt < LACKING_MS;
  }

  #missNote(): undefined {
    this.#missedAt = performance.now();
  }

  /**
   * Returns the last note that a holder of a lease has left, for a change, which waits for a slow store. Undefined if
   * there is none, or the store has been gone for seconds. Raises the reason of an aborted signal.
   */
  async awaitNote(key: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      return await this.#ask(() => this.store.leaseNote(key), signal);
    } catch (error) {
      if (isFileError(error, 'coordination_unavailable')) return undefined;
      throw error;
    }
  }

  /** Tells other machines that a folder is moved, which they may show where it was for a while. */
  async noteFolderMove(root: Root): Promise<void> {
    if (this.isShared(root)) await this.#folderMoves.tell();
  }

  /**
   * Waits until this machine no longer shows a folder where another one has moved it from: what is written by a path
   * would go along with it. That takes until all caches have expired. Raises the reason of an aborted signal.
   */
  async awaitFolderMoves(root: Root, signal: AbortSignal): Promise<void> {
    if (this.isShared(root)) await this.#folderMoves.settle(signal);
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

  /**
   * Renews a lease, and reports whether it still is one. An answer that comes after the lease may have ended again, as to
   * a process that was stopped while it waited, counts as no. Raises `coordination_unavailable`, and the reason of an
   * aborted signal.
   */
  renew(key: string, token: number, signal: AbortSignal): Promise<boolean> {
    return this.#ask(async () => {
      const asked = performance.now();
      const isHeld = await this.store.renewLease(key, token, this.leaseMs);
      return isHeld && performance.now() - asked < this.leaseMs;
    }, signal);
  }

  /** Asks the store, again and again while it has only just gone. */
  async #ask<T>(question: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      try {
        const answer = await question();
        this.#outage = undefined;
        return answer;
      } catch (error) {
        if (!(error instanceof RingfenceError)) throw error;
        if (this.#meetOutage() > OUTAGE_MS) throw unavailableError(error);
      }
      await cancellableSleep(OUTAGE_RETRY_MS, signal);
    }
  }

  /** Notes that the store could not be reached, and returns for how long that has been so, in milliseconds. */
  #meetOutage(): number {
    const now = performance.now();
    const { since, lastMet } = this.#outage ?? { since: now, lastMet: now };
    this.#outage = { since: now - lastMet > OUTAGE_FORGOTTEN_MS ? now : since, lastMet: now };
    return now - this.#outage.since;
  }
}

function unavailableError(cause: unknown): FileError<'coordination_unavailable'> {
  return new FileError('coordination_unavailable', {}, { cause });
}
