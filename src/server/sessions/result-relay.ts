import { type BlobLimits, type SharedStore, StoreUnavailable, type Unsubscribe } from '../../cluster/shared-store.ts';
import { atMost } from '../../runtime/at-most.ts';
import { cancellableSleep } from '../../runtime/operation-context.ts';

/** The place in an event stream of a session from which on it is wanted. */
interface Wanted {
  /** Stands for the id of the session. */
  readonly digest: string;
  /** The event that the client saw last. */
  readonly eventId: string;
}

/** Calls `keep` once with the rest of a stream; undefined if it is not kept. */
type Find = (wanted: Wanted, keep: (rest: Buffer | undefined) => void) => void;

/** What replicas tell each other: that something is wanted, that this was heard, and that it is in the store. */
interface Message extends Wanted {
  readonly kind: 'wanted' | 'heard' | 'kept';
  readonly from: string;
}

/** A client that waits at this replica. */
interface Waiter {
  heardAt: number;
  wake(): void;
  /** Whether the client has asked for the rest of the same stream again, on another connection. */
  isReplaced: boolean;
}

/** How often a replica is told what is wanted of it. */
const ASK_MS = 1_000;
/** A replica that has not said for so long that it heard is gone: others take less to connect to Redis again. */
const GONE_MS = 5_000;
/** For how long the store may be unavailable while a client waits. */
const OUTAGE_MS = 15_000;
/** How long a replica that stops waits until the store has what is wanted of it. */
const CLOSE_MS = 1_000;
/** What is kept of one session, and for how long nobody may take it. */
const LIMITS: BlobLimits = { maxBytes: 16 * 1024 * 1024, maxEntries: 8, ttlMs: 10_000 };
/** How many clients may wait in one session, and how many bytes may be on their way to the store. */
const MAX_WAITERS = 8;
const MAX_KEEPING_BYTES = 32 * 1024 * 1024;
/** The first byte of what is kept tells whether there is a rest. */
const FOUND = Buffer.from('+');
const NOT_FOUND = Buffer.from('-');

/** How much of a store in memory is for the results of all clients that wait for one. */
export const RELAYED_BYTES = 64 * 1024 * 1024;

/**
 * Gets the results of calls that run at one replica to clients that lost their connection and came back at another one.
 * It is told of the wish by a message, and leaves the result in the store.
 */
export class ResultRelay {
  readonly #store: SharedStore;
  readonly #replica: string;
  readonly #find: Find;
  readonly #subscription: Promise<Unsubscribe>;
  readonly #waiters = new Set<Waiter & Wanted>();
  /** Results that are on their way to the store, by what is wanted. */
  readonly #keeping = new Map<string, Promise<void>>();
  #keepingBytes = 0;

  /** Takes the name of this replica, and what finds the streams of its sessions. */
  constructor(store: SharedStore, replica: string, find: Find) {
    this.#store = store;
    this.#replica = replica;
    this.#find = find;
    this.#subscription = store.subscribe(channelOf(replica), (text) => {
      const message = parseMessage(text);
      if (message !== undefined) this.#receive(message);
    });
  }

  /**
   * Waits for what follows an event in a stream of another replica. Resolves with undefined if that replica is gone, or
   * does not keep it any more. Resolves with an empty buffer if this wait was ended in favour of a later one: the
   * client has asked for the same event again on another connection, or has more than `MAX_WAITERS` waits in this
   * session. Raises the reason of the signal once it is aborted.
   */
  async rest(replica: string, { digest, eventId }: Wanted, signal: AbortSignal): Promise<Buffer | undefined> {
    if (replica === this.#replica) return undefined;
    const waiter: Waiter & Wanted = { digest, eventId, heardAt: performance.now(), wake() {}, isReplaced: false };
    let outageSince: number | undefined;
    this.#makeRoom(waiter);
    this.#waiters.add(waiter);
    try {
      while (!waiter.isReplaced) {
        const woken = new Promise<void>((resolve) => {
          waiter.wake = resolve;
        });
        const kept = await this.#take(waiter);
        if (kept !== undefined) return kept.subarray(0, 1).equals(FOUND) ? kept.subarray(1) : undefined;
        const isSent = await this.#send(replica, 'wanted', waiter);
        const now = performance.now();
        outageSince = isSent ? undefined : (outageSince ?? now);
        // The other replica got no message that it could answer, so its silence does not mean that it is gone.
        if (!isSent) waiter.heardAt = now;
        if (now - waiter.heardAt > GONE_MS || now - (outageSince ?? now) > OUTAGE_MS) return undefined;
        await Promise.race([cancellableSleep(ASK_MS, signal), woken]);
      }
      return Buffer.alloc(0);
    } finally {
      this.#waiters.delete(waiter);
      // What comes too late is not left for long.
      if (signal.aborted) void available(() => this.#store.deleteBlobs(ownerOf(digest), eventId));
    }
  }

  /**
   * Ends the wait for the same event on another connection, and the longest waits of the session if there are too many.
   */
  #makeRoom({ digest, eventId }: Wanted): void {
    const inSession = [...this.#waiters].filter((waiter) => waiter.digest === digest);
    const tooMany = inSession.slice(0, Math.max(0, inSession.length - MAX_WAITERS + 1));
    for (const waiter of inSession) {
      if (waiter.eventId !== eventId && !tooMany.includes(waiter)) continue;
      waiter.isReplaced = true;
      this.#waiters.delete(waiter);
      waiter.wake();
    }
  }

  /**
   * Stops keeping results for other replicas. Waits until those that are on their way are in the store, but not longer
   * than `CLOSE_MS`: the store may hang.
   */
  async close(): Promise<void> {
    await atMost(CLOSE_MS, Promise.all(this.#keeping.values()));
    void this.#subscription.then((unsubscribe) => unsubscribe());
  }

  #receive(message: Message): void {
    const { kind, digest, eventId, from } = message;
    if (kind === 'wanted') {
      void this.#send(from, 'heard', message);
      const key = `${digest} ${eventId}`;
      if (this.#keeping.has(key)) return;
      this.#find({ digest, eventId }, (rest) => {
        const bytes = rest?.length ?? 0;
        // Whoever wants it asks again, and then it may fit.
        if (this.#keeping.has(key) || this.#keepingBytes + bytes > MAX_KEEPING_BYTES) return;
        this.#keepingBytes += bytes;
        const keeping = this.#keep(message, rest).finally(() => {
          this.#keepingBytes -= bytes;
          this.#keeping.delete(key);
        });
        this.#keeping.set(key, keeping);
      });
      return;
    }
    for (const waiter of this.#waiters) {
      if (waiter.digest !== digest || waiter.eventId !== eventId) continue;
      waiter.heardAt = performance.now();
      if (kind === 'kept') waiter.wake();
    }
  }

  async #keep(message: Message, rest: Buffer | undefined): Promise<void> {
    const { digest, eventId, from } = message;
    const bytes = rest === undefined ? NOT_FOUND : Buffer.concat([FOUND, rest]);
    // Whoever wants it asks again.
    await available(() => this.#store.putBlob(ownerOf(digest), eventId, bytes, LIMITS));
    await this.#send(from, 'kept', message);
  }

  /** Takes what another replica has left in the store. */
  #take({ digest, eventId }: Wanted): Promise<Buffer | undefined> {
    return available(async () => {
      const kept = await this.#store.getBlob(ownerOf(digest), eventId);
      if (kept !== undefined) await this.#store.deleteBlobs(ownerOf(digest), eventId);
      return kept;
    });
  }

  /** Sends a message to a replica, and reports whether the store took it. */
  async #send(replica: string, kind: Message['kind'], { digest, eventId }: Wanted): Promise<boolean> {
    const text = JSON.stringify({ kind, digest, eventId, from: this.#replica } satisfies Message);
    const publish = async (): Promise<true> => {
      await this.#store.publish(channelOf(replica), text);
      return true;
    };
    return (await available(publish)) ?? false;
  }
}

const channelOf = (replica: string): string => `results of ${replica}`;
const ownerOf = (digest: string): string => `results:${digest}`;

/** Uses the store. Undefined while it is unavailable. */
async function available<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreUnavailable) return undefined;
    throw error;
  }
}

/** Returns what a replica has sent; undefined for anything else that somebody put on the channel. */
function parseMessage(text: string): Message | undefined {
  try {
    const { kind, digest, eventId, from } = JSON.parse(text) ?? {};
    const isMessage = [digest, eventId, from].every((field) => typeof field === 'string');
    return isMessage && ['wanted', 'heard', 'kept'].includes(kind) ? { kind, digest, eventId, from } : undefined;
  } catch {
    return undefined;
  }
}
