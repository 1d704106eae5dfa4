/** The answer to a request for a lease. */
type LeaseGrant =
  | {
      readonly granted: true;
      /** The fencing token: larger than that of every lease granted before. */
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

/** A lease that was granted. */
export type Granted = Extract<LeaseGrant, { granted: true }>;

/**
 * Grants leases on files that servers on several machines change. Raises a `RingfenceError` if it cannot be reached.
 * The `SharedStore` of a cluster is one.
 */
export interface LeaseStore {
  /**
   * Grants a lease unless there is one. It ends after `ttlMs`, unless it is renewed. One that was granted to the same
   * owner is granted anew: an owner that asks has not got the answer, or could not say that it has released it.
   */
  acquireLease(key: string, ttlMs: number, owner?: string): Promise<LeaseGrant>;
  /** Lets the lease of this token end after `ttlMs` from now. Returns false if it has ended already. */
  renewLease(key: string, token: number, ttlMs: number): Promise<boolean>;
  /** Returns the last note that a holder of the lease has left. The present holder, if any, has left none yet. */
  leaseNote(key: string): Promise<string | undefined>;
  /** Ends the lease of this token, and leaves a note for the next holder. Returns false if it has ended already. */
  releaseLease(key: string, token: number, note?: string): Promise<boolean>;
  /**
   * Ends the lease of this token with a note, and grants it anew in the same step. Not granted if it has ended already.
   */
  handOnLease(key: string, token: number, note: string, ttlMs: number): Promise<LeaseGrant>;
}
