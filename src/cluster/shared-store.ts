import { RingfenceError } from '../errors.ts';

/**
 * Why a store cannot be used: it cannot be reached, does not accept the password, did not answer in time, has no memory
 * left, is a replica that may only be read, or refused.
 */
export type StoreProblem = 'unreachable' | 'wrong_password' | 'timed_out' | 'full' | 'read_only' | 'failed';

interface StoreErrorDetails {
  readonly store_unavailable: { readonly problem: StoreProblem };
}

/**
 * The one error of a `SharedStore`. The command may or may not have taken effect. It never shows the store's address.
 */
export class StoreUnavailable extends RingfenceError<StoreErrorDetails, 'store_unavailable'> {
  constructor(problem: StoreProblem, cause?: unknown) {
    super('store_unavailable', { problem }, { cause });
  }
}

/** The rate of a token bucket. */
export interface TokenRate {
  /** How many tokens it gains a second. */
  readonly perSecond: number;
  /** How many tokens it holds at most. A new bucket is full. */
  readonly burst: number;
}

/** How a value is stored. */
export interface SetOptions {
  /** After how long the value is gone. */
  readonly ttlMs: number;
}

/** The bounds of the blobs of one owner. */
export interface BlobLimits {
  readonly maxBytes: number;
  readonly maxEntries: number;
  /** After how long without a put or get of any blob all blobs of the owner are gone. */
  readonly ttlMs: number;
}

/** A blob of an owner, without its bytes. */
export interface BlobEntry {
  readonly key: string;
  /** Differs from that of every other content that was ever stored by this key. */
  readonly version: string;
}

/** The answer to a request for a lease. */
export type LeaseGrant =
  | {
      readonly granted: true;
      /** The fencing token: larger than that of every lease granted before, on this key or any other. */
      readonly token: number;
      /**
       * What the last holder has left with its release; empty if that is not known; undefined if there was none for
       * long.
       */
      readonly note?: string | undefined;
      /** The store may have forgotten an earlier holder, who may have been stopped, and go on. */
      readonly hasForgotten?: boolean;
    }
  | { readonly granted: false };

/** How long a note stays that a holder of a lease leaves for the next one. */
export const NOTE_TTL_MS = 600_000;
/** For how long it is known that the last holder has not released its lease: it may have been stopped, and go on. */
export const UNRELEASED_TTL_MS = 86_400_000;

/** Ends a subscription. Never rejects: what it cannot tell a store that is unavailable is done once that is back. */
export type Unsubscribe = () => Promise<void>;

/**
 * What the replicas of a server have in common. Every entry expires. Every operation is atomic, is over within about a
 * second, and raises `StoreUnavailable` if the store cannot do it; none is repeated by itself. Times are measured by
 * the clock of the store. Arguments and results are strings, numbers, buffers and plain objects of these, so that they
 * can be passed to another process.
 */
export interface SharedStore {
  /**
   * Takes tokens from a bucket and returns 0. If there are too few, takes none and returns in how many seconds there
   * will be enough. A negative count puts tokens back.
   */
  takeTokens(key: string, rate: TokenRate, count: number): Promise<number>;

  /** Returns a value; undefined if there is none. */
  get(key: string): Promise<Buffer | undefined>;
  /** Stores a value, in place of the one that is there. */
  set(key: string, value: string | Buffer, options: SetOptions): Promise<void>;
  /** Adds to a counter, which starts at 0 and is gone `ttlMs` after it was last added to. Returns its new value. */
  increment(key: string, amount: number, ttlMs: number): Promise<number>;

  /**
   * Stores a blob of an owner as its most recently used and evicts the least recently used ones to keep the limits
   * (LRU). Returns its version; undefined if it is larger than `maxBytes`, in which case nothing changes. To bound the
   * blobs of all owners together, a store may remove those of owners that have not used theirs for longest.
   */
  putBlob(owner: string, key: string, blob: Buffer, limits: BlobLimits): Promise<string | undefined>;
  /** Returns a blob and makes it the most recently used; undefined if there is none. */
  getBlob(owner: string, key: string): Promise<Buffer | undefined>;
  /** Returns the blobs of an owner, from the least to the most recently used. */
  listBlobs(owner: string): Promise<readonly BlobEntry[]>;
  /** Removes a blob, or all blobs of the owner if no key is given. */
  deleteBlobs(owner: string, key?: string): Promise<void>;

  /**
   * Sends a message to those who are subscribed to a channel now, in all replicas, this one included. Returns how many
   * there are, each connection or listener being one.
   */
  publish(channel: string, message: string): Promise<number>;
  /**
   * Calls the listener for every message of a channel. Never rejects: if the store is unavailable, it is subscribed to
   * as soon as it can be. A message that is published while it is unavailable is lost.
   */
  subscribe(channel: string, listener: (message: string) => void): Promise<Unsubscribe>;

  /**
   * Grants a lease unless there is one. It ends after `ttlMs`, unless it is renewed. One that was granted to the same
   * owner is granted anew: an owner that asks has not got the answer, or could not say that it has released it.
   */
  acquireLease(key: string, ttlMs: number, owner?: string): Promise<LeaseGrant>;
  /** Lets the lease of this token end after `ttlMs` from now. Returns false if it has ended already. */
  renewLease(key: string, token: number, ttlMs: number): Promise<boolean>;
  /** Returns the last note that a holder of the lease has left. The present holder, if any, has left none yet. */
  leaseNote(key: string): Promise<string | undefined>;
  /**
   * Ends the lease of this token, and leaves a note for the next holder, which is kept for ten minutes at least.
   * Returns false if the lease has ended already, and then leaves none.
   */
  releaseLease(key: string, token: number, note?: string): Promise<boolean>;
  /**
   * Ends the lease of this token with a note, as `releaseLease` does, and grants it anew in the same step, with that
   * note. Not granted if it has ended already.
   */
  handOnLease(key: string, token: number, note: string, ttlMs: number): Promise<LeaseGrant>;

  /** Calls the listener whenever the store can be used again after it could not be: it may be empty by then. */
  onRestored(listener: () => void): void;
  /** Names what cannot be used at present; empty if everything works. */
  missing(): readonly string[];
  /** Ends all subscriptions and connections. */
  close(): Promise<void>;
}
