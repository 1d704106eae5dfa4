import type { Stats } from 'node:fs';
import { type Dir, leasedName, type Name } from '../../fence/index.ts';
import { FileError, isFileError } from '../errors.ts';
import { keyOf, type LeasedEntry } from './lease-key.ts';
import type { Granted } from './lease-store.ts';
import type { Leases } from './leases.ts';
import { compareStamp, stampOf } from './stamp.ts';

/** How often a lease is renewed before it would end. */
const RENEWALS = 4;

/**
 * Raised for a file that the lease is not for, because a folder above it was made, moved or replaced since the lease
 * was taken. Another attempt takes the lease on the right one.
 */
export class MisplacedLease extends FileError<'changed_meanwhile'> {
  constructor() {
    super('changed_meanwhile', {});
  }
}

interface FileLeaseOptions {
  readonly leases: Leases;
  readonly key: string;
  readonly granted: Granted;
  /** Go on if the store cannot be asked whether the lease still holds. */
  readonly optional: boolean;
  /** Aborts waiting for the store. */
  readonly signal: AbortSignal;
}

/**
 * The right of this process to change a file, among all servers that share its file system. It is renewed while it is
 * held. A process may lose it nevertheless, by being stopped for longer than it lasts, and not know. So whoever holds
 * it next first removes the temporary files of all others (`leasedName`): what they would rename over the file is gone.
 * That protects a change whose temporary file exists when `confirm` finds the lease still held.
 */
export class FileLease implements AsyncDisposable {
  /** The fencing token: larger than that of every holder before. */
  readonly token: number;
  /**
   * What the last holder has left, as `stampOf` makes it; empty if it may not have finished; undefined if there was
   * none.
   */
  readonly note: string | undefined;
  /** Whether an earlier holder may not have finished, and be stopped. */
  readonly mayHaveOthers: boolean;
  readonly #options: FileLeaseOptions;
  readonly #timer: NodeJS.Timeout;
  #left: string | undefined;

  constructor(options: FileLeaseOptions) {
    const { leases, key, granted } = options;
    this.token = granted.token;
    this.note = granted.note;
    this.mayHaveOthers = granted.note === '' || granted.hasForgotten === true;
    this.#left = granted.note || undefined;
    this.#options = options;
    // Whoever is about to change the file finds out by `confirm` if the lease could not be renewed.
    const renew = (): void => void leases.store.renewLease(key, this.token, leases.leaseMs).catch(() => {});
    this.#timer = setInterval(renew, leases.leaseMs / RENEWALS).unref();
  }

  /** Raises `MisplacedLease` if an entry is not the one that the lease is for. */
  assertFor(entry: LeasedEntry): void {
    if (keyOf(entry) !== this.#options.key) throw new MisplacedLease();
  }

  /** Makes a name for the temporary file that is to become the file. */
  temporaryName(dir: Dir, name: Name): string {
    return leasedName(dir, name.toString(), this.token);
  }

  /**
   * Raises `lease_lost` if another server has the lease by now or may get it at once, `coordination_unavailable` if
   * that cannot be known, and the reason of an aborted signal. To be called as the last thing before the change, of a
   * file once the temporary file is complete.
   */
  async confirm(): Promise<void> {
    const { leases, key, optional, signal } = this.#options;
    try {
      if (!(await leases.renew(key, this.token, signal))) throw new FileError('lease_lost', {});
    } catch (error) {
      if (!(optional && isFileError(error, 'coordination_unavailable'))) throw error;
    }
  }

  /**
   * Raises `changed_meanwhile` if a file that was opened, or none, is not the one that this machine saw as the latest:
   * of two looks at a name, the later may show what was there before.
   */
  assertLatest(stats: Stats | undefined): void {
    if (this.#left === undefined || compareStamp(stats, this.#left) === 'same') return;
    throw new FileError('changed_meanwhile', {});
  }

  /** Says what the next holder has to find: a file, or none, perhaps because one was moved away. */
  leaves(stats: Stats | undefined, moved?: Stats): void {
    this.#left = stampOf(stats, moved);
  }

  /** Says that nobody knows what the next holder has to find. */
  leavesUnknown(): void {
    this.#left = undefined;
  }

  /** Ends the lease. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    const { leases, key } = this.#options;
    await leases.release(key, this.token, this.#left);
  }
}
