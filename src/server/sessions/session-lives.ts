import { MemoryStore } from '../../cluster/memory-store.ts';
import { type SharedStore, StoreUnavailable, type Unsubscribe } from '../../cluster/shared-store.ts';
import { ExpiringMap } from '../../runtime/expiring-map.ts';

/** How long an id can be used after it was used last. */
const LIFE_MS = 24 * 60 * 60_000;
/** How often the use of a session is noted. Until an id is `LIFE_MS` old, it lives without a note. */
const NOTE_MS = 10 * 60_000;
/** How often a session that is in use is checked for having been ended elsewhere, in case that the message was lost. */
const CHECK_MS = 60_000;
/** For how long it is known that a session was ended: longer than its id could be used. */
const ENDED_MS = LIFE_MS + NOTE_MS;

const CHANNEL = 'ended sessions';

/** A session that is known here. */
export interface LivingSession {
  /** Stands for the id. */
  readonly digest: string;
  /** When it was last checked and noted, by `performance.now()`. */
  checkedAt: number;
  notedAt: number;
}

/**
 * What all replicas know of sessions beside what their ids say: which were ended, and which of the old ones are in use.
 * While the store is unavailable, an id counts as long as its signature says, unless this replica has heard of its end.
 * What a store that was emptied meanwhile has forgotten is told to it again.
 */
export class SessionLives {
  readonly #store: SharedStore;
  readonly #ended: (digest: string) => void;
  readonly #subscription: Promise<Unsubscribe>;
  /** The ended sessions that this replica has heard of. */
  readonly #known = new ExpiringMap<true>();
  #restoredAt = Number.NEGATIVE_INFINITY;

  /** Calls `ended` with the digest of every id that another replica ends. */
  constructor(store: SharedStore = new MemoryStore(), ended: (digest: string) => void = () => {}) {
    this.#store = store;
    this.#ended = ended;
    this.#subscription = store.subscribe(CHANNEL, (digest) => {
      // After an outage every replica tells what all know. That must not keep an entry for longer, either.
      if (this.#known.get(digest)) return;
      this.#known.set(digest, true, ENDED_MS);
      ended(digest);
    });
    store.onRestored(() => {
      this.#restoredAt = performance.now();
      this.#tellEnded().catch(() => {});
    });
  }

  /** Reports whether an id that is met for the first time can no longer be used. */
  async isOver(digest: string, issuedAt: number, now = Date.now()): Promise<boolean> {
    if (this.#known.get(digest)) return true;
    const isOld = now - issuedAt > LIFE_MS;
    try {
      if ((await this.#store.get(endedKey(digest))) !== undefined) return true;
      return isOld && (await this.#store.get(usedKey(digest))) === undefined;
    } catch (error) {
      if (error instanceof StoreUnavailable) return isOld;
      throw error;
    }
  }

  /** Makes an id unusable for all replicas. Raises `StoreUnavailable` if they cannot be told. */
  async end(digest: string): Promise<void> {
    this.#known.set(digest, true, ENDED_MS);
    await this.#store.set(endedKey(digest), '', { ttlMs: ENDED_MS });
    await this.#store.publish(CHANNEL, digest);
  }

  /** Has the next use of a session noted and checked, which is one that this replica did not open. */
  reviewNextUse(session: LivingSession): void {
    session.checkedAt = Number.NEGATIVE_INFINITY;
    session.notedAt = Number.NEGATIVE_INFINITY;
  }

  /** Notes in the background that a session is in use, and looks whether another replica has ended it. */
  noteUse(session: LivingSession): void {
    const now = performance.now();
    if (now - session.checkedAt < CHECK_MS && session.checkedAt > this.#restoredAt) return;
    session.checkedAt = now;
    const isNoted = now - session.notedAt < NOTE_MS && session.notedAt > this.#restoredAt;
    if (!isNoted) session.notedAt = now;
    void this.#review(session.digest, isNoted).then(
      (isOver) => isOver && this.#ended(session.digest),
      () => {
        session.notedAt = Number.NEGATIVE_INFINITY;
      },
    );
  }

  /** Stops listening. Does not wait for the store, which may hang. */
  close(): void {
    void this.#subscription.then((unsubscribe) => unsubscribe());
  }

  async #tellEnded(): Promise<void> {
    for (const digest of this.#known.keys()) {
      await this.#store.set(endedKey(digest), '', { ttlMs: this.#known.ttl(digest) });
      // A replica that was not told during the outage may serve the session.
      await this.#store.publish(CHANNEL, digest);
    }
  }

  async #review(digest: string, isNoted: boolean): Promise<boolean> {
    if (!isNoted) await this.#store.set(usedKey(digest), '', { ttlMs: LIFE_MS });
    return (await this.#store.get(endedKey(digest))) !== undefined;
  }
}

const endedKey = (digest: string): string => `ended session:${digest}`;
const usedKey = (digest: string): string => `used session:${digest}`;
