import { setTimeout as sleep } from 'node:timers/promises';
import { type BlobLimits, type SharedStore, StoreUnavailable, type Unsubscribe } from '../../cluster/shared-store.ts';

/** A request for the rest of an event stream of a session. */
interface Wanted {
  /** Stands for the id of the session. */
  readonly digest: string;
  /** The event that the client saw last. */
  readonly eventId: string;
}

/** Calls `keep` once with the rest of a stream; undefined if it is not kept. */
type Find = (wanted: Wanted, keep: (rest: Buffer | undefined) => void) => void;

/** How often a replica is told what is wanted of it. */
const ASK_MS = 500;
/** How long nobody listens for a replica that is gone: after a restart of Redis, they do again within a second. */
const GONE_MS = 2_500;
/** How long nobody can be told before this gives up. */
const OUTAGE_MS = 15_000;
const POLL_MS = 100;
const LIMITS: BlobLimits = { maxBytes: 16 * 1024 * 1024, maxEntries: 100, ttlMs: 60_000 };
/** The first byte of what is kept tells whether there is a rest. */
const FOUND = Buffer.from('+');
const NOT_FOUND = Buffer.from('-');

/**
 * Gets the results of calls that run at one replica to clients that lost their connection and came back at another one.
 * It is told of the wish by a message, and leaves the result in the store.
 */
export class ResultRelay {
  readonly #store: SharedStore;
  readonly #replica: string;
  readonly #subscription: Promise<Unsubscribe>;

  /** Takes the name of this replica, and what finds the streams of its sessions. */
  constructor(store: SharedStore, replica: string, find: Find) {
    this.#store = store;
    this.#replica = replica;
    this.#subscription = store.subscribe(channelOf(replica), (text) => {
      const wanted = parseWanted(text);
      if (wanted !== undefined) find(wanted, (rest) => void this.#keep(wanted, rest));
    });
  }

  /**
   * Waits for what follows an event in a stream of another replica. Resolves with undefined if that replica is gone, or
   * keeps it no longer. Raises the reason of the signal once it is aborted.
   */
  async rest(replica: string, wanted: Wanted, signal: AbortSignal): Promise<Buffer | undefined> {
    if (replica === this.#replica) return undefined;
    let askedAt = Number.NEGATIVE_INFINITY;
    /** Since when nobody hears what is asked, or it cannot be asked. */
    let unheard: { readonly isGone: boolean; readonly since: number } | undefined;
    for (;;) {
      const kept = await this.#take(wanted);
      if (kept !== undefined) return kept.subarray(0, 1).equals(FOUND) ? kept.subarray(1) : undefined;
      const now = performance.now();
      if (now - askedAt >= ASK_MS) {
        askedAt = now;
        const isHeard = await this.#ask(replica, wanted);
        const isGone = isHeard === false;
        if (isHeard) unheard = undefined;
        else if (unheard?.isGone !== isGone) unheard = { isGone, since: now };
        if (unheard && now - unheard.since > (isGone ? GONE_MS : OUTAGE_MS)) return undefined;
      }
      await sleep(POLL_MS, undefined, { signal });
    }
  }

  /** Stops keeping results for other replicas. */
  async close(): Promise<void> {
    await (await this.#subscription)();
  }

  /** Reports whether a replica has heard what is wanted of it; undefined if it cannot be told. */
  #ask(replica: string, wanted: Wanted): Promise<boolean | undefined> {
    const text = JSON.stringify(wanted);
    return available(async () => (await this.#store.publish(channelOf(replica), text)) > 0, undefined);
  }

  #take({ digest, eventId }: Wanted): Promise<Buffer | undefined> {
    return available(async () => {
      const kept = await this.#store.getBlob(ownerOf(digest), eventId);
      if (kept !== undefined) await this.#store.deleteBlobs(ownerOf(digest), eventId);
      return kept;
    }, undefined);
  }

  async #keep({ digest, eventId }: Wanted, rest: Buffer | undefined): Promise<void> {
    const bytes = rest === undefined ? NOT_FOUND : Buffer.concat([FOUND, rest]);
    // Whoever wants it asks again.
    await available(() => this.#store.putBlob(ownerOf(digest), eventId, bytes, LIMITS), undefined);
  }
}

const channelOf = (replica: string): string => `results of ${replica}`;
const ownerOf = (digest: string): string => `results:${digest}`;

async function available<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreUnavailable) return otherwise;
    throw error;
  }
}

/** Returns what is wanted; undefined for anything else that somebody put on the channel. */
function parseWanted(text: string): Wanted | undefined {
  try {
    const { digest, eventId } = JSON.parse(text) ?? {};
    return typeof digest === 'string' && typeof eventId === 'string' ? { digest, eventId } : undefined;
  } catch {
    return undefined;
  }
}
