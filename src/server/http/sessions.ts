import type { SharedStore } from '../../cluster/shared-store.ts';
import type { Peer } from '../clients/peer.ts';
import type { Principal } from '../clients/principals.ts';
import type { ClientLimits } from '../limits/client-limits.ts';
import { FairPool } from '../limits/fair-pool.ts';
import { newReplicaId, ReplicaRelay } from '../sessions/replica-relay.ts';
import { ResultRelay } from '../sessions/result-relay.ts';
import {
  digestOf,
  type SessionClaims,
  type SessionClient,
  SessionIds,
  type SessionScope,
} from '../sessions/session-id.ts';
import { SessionLives } from '../sessions/session-lives.ts';
import { cancelCall } from './http-fast-path.ts';
import { connectSession, type HttpSession, type NewSessionServer, touch } from './http-session.ts';
import { KeptResponse } from './kept-response.ts';
import { ReplayBudget } from './replay-buffer.ts';
import { replayInitialize } from './replay-initialize.ts';

/** How many sessions there may be, and for how long. */
export interface SessionLimits {
  readonly maxSessions: number;
  /** How many clients share them; undefined if anyone may come. */
  readonly clients?: number | undefined;
  /** How long a session may be unused before it is closed. */
  readonly idleMs: number;
}

/**
 * The length of an `initialize` for which its session counts as one more: the SDK keeps what the client says of itself,
 * which takes some twenty times the memory of its text.
 */
const LENGTH_OF_ONE = 2 * 1024;

/** The limits by default. */
export const SESSION_LIMITS: SessionLimits = { maxSessions: 2_000, idleMs: 30 * 60_000 };

/** A session in use. */
export interface ActiveSession extends Pick<HttpSession, 'transport' | 'peer' | 'calls' | 'replay' | 'digest'> {
  /** Must be called once, when the request is answered. */
  leave(): void;
}

/** For whom a session is opened. */
export interface OpenOptions {
  /** What limits the calls of the client. It also names the client in whose share of all sessions this one is. */
  readonly limits?: ClientLimits | undefined;
  /** The length of the `initialize` in bytes. A session with a long one counts as several. */
  readonly length?: number;
}

/** Options of `Sessions`. */
export interface SessionOptions {
  readonly limits?: SessionLimits;
  readonly replayBudget?: ReplayBudget;
  /** The name of the dialect in which the sessions are. */
  readonly dialect?: string;
  /** Issues and checks the ids; by default they are of use in this process only. */
  readonly ids?: SessionIds;
  /** What the replicas have in common; undefined if there are none. */
  readonly store?: SharedStore | undefined;
}

/** Why a session cannot go on: its id cannot be used, or the client has no more sessions. */
export type Refusal = 'unknown' | 'too_many';

/** The part of a session in the pool of all. */
interface Share {
  readonly client: string;
  readonly weight: number;
  /** Whether it was ever found by its id. From then on it gives back its part when it is closed. */
  isFound: boolean;
}

/**
 * The HTTP sessions of clients that speak a revision before 2026-07-28, bounded in number and in idle time. When a
 * client has no more of them, a new one replaces its own least recently used one that has no open request (LRU), never
 * that of another client. A session that was closed here, or that another replica opened, goes on by its id, unless a
 * client has ended it.
 */
export class Sessions {
  readonly #sessions = new Map<string, HttpSession & Share>();
  readonly #newServer: NewSessionServer;
  readonly #limits: SessionLimits;
  readonly #replayBudget: ReplayBudget;
  readonly #dialect: string;
  readonly #ids: SessionIds;
  readonly #lives: SessionLives;
  readonly #relay: ReplicaRelay | undefined;
  readonly #results: ResultRelay | undefined;
  readonly #expiry: NodeJS.Timeout;
  /** Sessions that are not ready yet are in it, too, or many clients at once could exceed the limit. */
  readonly #pool: FairPool;
  /** Sessions that are being made to go on, by their ids. */
  readonly #resuming = new Map<string, Promise<(HttpSession & Share) | Refusal>>();

  constructor(newServer: NewSessionServer, options: SessionOptions = {}) {
    const { limits = SESSION_LIMITS, replayBudget = new ReplayBudget(), dialect = '', store } = options;
    this.#newServer = newServer;
    this.#limits = limits;
    this.#replayBudget = replayBudget;
    this.#dialect = dialect;
    this.#ids = options.ids ?? new SessionIds();
    this.#lives = new SessionLives(store, (digest) => this.#closeIf((session) => session.digest === digest));
    const replica = newReplicaId();
    this.#relay = store && new ReplicaRelay(store, replica, (digest, message) => this.#deliver(digest, message));
    this.#results = store && new ResultRelay(store, replica, (wanted, keep) => this.#find(wanted, keep));
    this.#pool = new FairPool({ size: limits.maxSessions, clients: limits.clients });
    this.#expiry = setInterval(() => this.#expire(), Math.min(limits.idleMs, 60_000)).unref();
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Returns the clients of all sessions, each as often as it has one. */
  peers(): Peer[] {
    return [...this.#sessions.values()].map(({ peer }) => peer);
  }

  /**
   * Opens a session for an `initialize` request of this client. It is in use until `leave` is called, which closes it
   * if the SDK did not accept the request. Only its owner can enter it. Returns undefined if the client has no more
   * sessions, and all that it has are in use.
   */
  async open(client: SessionClient, owner?: Principal, options: OpenOptions = {}): Promise<ActiveSession | undefined> {
    const id = this.#ids.issue(this.#scopeOf(owner), client);
    const session = await this.#connect({ id, owner, clientName: client.name, ...options }, true);
    if (session === undefined) return undefined;
    const leave = (): void => {
      touch(session, -1);
      if (!session.isFound) this.#discard(session);
    };
    return { ...active(session), leave };
  }

  /** Marks a session as in use until `leave` is called. Returns undefined if this owner has no such session here. */
  enter(id: string, owner?: Principal): ActiveSession | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || session.owner !== owner?.client.key) return undefined;
    return this.#use(session);
  }

  /**
   * Goes on with a session that is not known here, and marks it as in use until `leave` is called. Any id that this
   * owner cannot use is `unknown`, whatever the reason; `too_many` is as in `open`.
   */
  async resume(id: string, owner?: Principal, options: OpenOptions = {}): Promise<ActiveSession | Refusal> {
    const claims = this.#ids.verify(id, this.#scopeOf(owner));
    if (claims === undefined) return 'unknown';
    const resuming = this.#resuming.get(id) ?? this.#resume({ id, owner, clientName: claims.name, ...options }, claims);
    this.#resuming.set(id, resuming);
    try {
      const session = await resuming;
      return typeof session === 'string' ? session : this.#use(session);
    } finally {
      this.#resuming.delete(id);
    }
  }

  /**
   * Passes on what a client sent in a session but another replica waits for. Returns the rest of the body; undefined if
   * there is none. Raises `StoreUnavailable`.
   */
  async accept({ digest }: ActiveSession, body: unknown): Promise<unknown> {
    return this.#relay === undefined ? body : this.#relay.accept(digest, body);
  }

  /**
   * Waits for what followed an event that another replica has sent in a session. Resolves with undefined if that
   * replica is gone, or keeps it no longer; undefined if there are no replicas. Raises the reason of the signal.
   */
  restFromReplica(
    { digest }: ActiveSession,
    { replica, eventId }: { readonly replica: string; readonly eventId: string },
    signal: AbortSignal,
  ): Promise<Buffer | undefined> | undefined {
    return this.#results?.rest(replica, { digest, eventId }, signal);
  }

  /** Closes a session, and makes its id unusable for all replicas. Raises `StoreUnavailable` if they cannot be told. */
  async end(id: string): Promise<void> {
    this.#closeIf((session) => session.id === id);
    await this.#lives.end(digestOf(id));
  }

  /** Closes all sessions. Their ids can still be used. */
  async close(): Promise<void> {
    clearInterval(this.#expiry);
    this.#lives.close();
    this.#relay?.close();
    await this.#results?.close();
    await Promise.all([...this.#sessions.values()].map(({ transport }) => transport.close()));
    this.#sessions.clear();
  }

  #scopeOf(owner: Principal | undefined): SessionScope {
    return { principal: owner?.client.key, dialect: this.#dialect };
  }

  #use(session: HttpSession): ActiveSession {
    touch(session, 1);
    this.#lives.noteUse(session);
    return active(session);
  }

  async #resume(wanted: WantedSession, claims: SessionClaims): Promise<(HttpSession & Share) | Refusal> {
    if (await this.#lives.isOver(digestOf(wanted.id), claims.issuedAt)) return 'unknown';
    const session = await this.#connect(wanted, false);
    if (session === undefined) return 'too_many';
    try {
      await replayInitialize(session.transport, claims);
    } catch (error) {
      this.#discard(session);
      throw error;
    }
    // Nobody finds it before it knows its client.
    this.#add(session);
    this.#lives.reviewNextUse(session);
    touch(session, -1);
    return session;
  }

  /**
   * Makes a session, which is in use. With `isFound`, it is found by its id as soon as the SDK has accepted its
   * `initialize`. Returns undefined if the client has no more sessions.
   */
  async #connect(wanted: WantedSession, isFound: boolean): Promise<(HttpSession & Share) | undefined> {
    const client = wanted.limits?.key ?? '';
    const weight = Math.max(1, Math.ceil((wanted.length ?? 0) / LENGTH_OF_ONE));
    while (!this.#pool.tryTake(client, weight)) if (!this.#evict(client)) return undefined;
    try {
      const session = await connectSession({
        ...wanted,
        limits: wanted.limits,
        newServer: this.#newServer,
        replayBudget: this.#replayBudget,
        relay: this.#relay,
        onInitialized: () => isFound && this.#add(shared),
        onClose: () => this.#remove(shared),
      });
      const shared = Object.assign(session, { client, weight, isFound: false });
      return shared;
    } catch (error) {
      this.#pool.give(client, weight);
      throw error;
    }
  }

  /** Hands a message that another replica received to the session that it is for. */
  #deliver(digest: string, message: object): void {
    const session = this.#byDigest(digest);
    if (session === undefined) return;
    cancelCall(session, message);
    session.transport.onmessage?.({ jsonrpc: '2.0', ...message } as never);
  }

  #byDigest(digest: string): HttpSession | undefined {
    for (const session of this.#sessions.values()) if (session.digest === digest) return session;
    return undefined;
  }

  /** Has the rest of a stream kept for a client that came back at another replica, once it has what that waits for. */
  #find({ digest, eventId }: { digest: string; eventId: string }, keep: (rest: Buffer | undefined) => void): void {
    const replay = this.#byDigest(digest)?.replay;
    const next = replay?.after(eventId);
    if (next === undefined) keep(undefined);
    else if (next === 'sdk') replay?.keepRest(eventId, keep);
    else next.reply.resume(new KeptResponse(keep), next.lastSeen);
  }

  /** Closes the least recently used session of a client that has no open request, and reports whether there was one. */
  #evict(client: string): boolean {
    let oldest: HttpSession | undefined;
    for (const session of this.#sessions.values()) {
      if (session.client !== client) continue;
      if (session.open === 0 && session.lastUsed < (oldest?.lastUsed ?? Number.POSITIVE_INFINITY)) oldest = session;
    }
    this.#closeIf((session) => session === oldest);
    return oldest !== undefined;
  }

  #expire(): void {
    const limit = performance.now() - this.#limits.idleMs;
    this.#closeIf(({ open, lastUsed }) => open === 0 && lastUsed < limit);
    for (const session of this.#sessions.values()) session.replay.expire();
  }

  #closeIf(condition: (session: HttpSession) => boolean): void {
    for (const session of this.#sessions.values()) {
      if (!condition(session)) continue;
      this.#remove(session);
      session.transport.close().catch(() => {});
    }
  }

  #add(session: HttpSession & Share): void {
    session.isFound = true;
    this.#sessions.set(session.id, session);
  }

  #remove(session: HttpSession & Share): void {
    if (this.#sessions.get(session.id) !== session) return;
    this.#sessions.delete(session.id);
    this.#pool.give(session.client, session.weight);
  }

  /** Closes a session that was never found by its id. */
  #discard({ transport, client, weight }: HttpSession & Share): void {
    this.#pool.give(client, weight);
    transport.close().catch(() => {});
  }
}

interface WantedSession extends OpenOptions {
  readonly id: string;
  readonly owner: Principal | undefined;
  readonly clientName: string;
}

/** Returns a session that is in use already. */
function active(session: HttpSession): ActiveSession {
  const { transport, peer, calls, replay, digest } = session;
  return { transport, peer, calls, replay, digest, leave: () => touch(session, -1) };
}
