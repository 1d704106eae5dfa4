import { randomUUID } from 'node:crypto';
import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { InFlight } from '../call/in-flight.ts';
import type { Peer } from '../call/peer.ts';
import type { Principal } from '../call/principals.ts';
import type { ClientLimits } from '../limits/client-limits.ts';
import { FairPool } from '../limits/fair-pool.ts';
import type { FastCall } from '../protocol/fast/fast-path.ts';
import { RETRY_MS } from './http-reply.ts';
import { ReplayBudget, ReplayBuffer } from './replay-buffer.ts';

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

interface HttpSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly peer: Peer;
  /** Calls that run on the fast path. They are cancelled when the session ends. */
  readonly calls: InFlight<FastCall>;
  /** What was sent to the client of late, in case that it did not arrive. */
  readonly replay: ReplayBuffer;
  /** The principal that opened the session and alone may use it; undefined where no tokens are configured. */
  readonly owner: Principal | undefined;
  /** The client in whose share of all sessions it is. */
  readonly client: string;
  /** For how many sessions it counts. */
  readonly weight: number;
  /** The number of requests being answered, including open event streams. */
  open: number;
  lastUsed: number;
}

/** A session in use. */
export interface ActiveSession extends Pick<HttpSession, 'transport' | 'peer' | 'calls' | 'replay'> {
  /** Must be called once, when the request is answered. */
  leave(): void;
}

/** For whom a session is opened. */
export interface OpenOptions {
  /** What limits the calls of the client. It also names the client in whose share of all sessions this one is. */
  readonly limits?: ClientLimits | undefined;
  /** The length of the `initialize` in bytes. A session with a long one counts as several. */
  readonly length?: number;
  /** The name of the program. */
  readonly clientName?: string | undefined;
}

/**
 * Makes the SDK server and the peer of a new session. The server's `onclose` is called when the session ends, for any
 * reason.
 */
type NewSessionServer = (
  owner: Principal | undefined,
  options: OpenOptions,
) => { readonly server: Server; readonly peer: Peer };

/**
 * The HTTP sessions of clients that speak a revision before 2026-07-28, bounded in number and in idle time. When a
 * client has no more of them, a new one replaces its own least recently used one that has no open request (LRU), never
 * that of another client.
 */
export class Sessions {
  readonly #sessions = new Map<string, HttpSession>();
  readonly #newServer: NewSessionServer;
  readonly #limits: SessionLimits;
  readonly #replayBudget: ReplayBudget;
  readonly #expiry: NodeJS.Timeout;
  /** Sessions that have no id yet are in it, too, or many clients at once could exceed the limit. */
  readonly #pool: FairPool;

  constructor(newServer: NewSessionServer, limits: SessionLimits = SESSION_LIMITS, replayBudget = new ReplayBudget()) {
    this.#newServer = newServer;
    this.#limits = limits;
    this.#replayBudget = replayBudget;
    this.#pool = new FairPool({ size: limits.maxSessions, clients: limits.clients });
    this.#expiry = setInterval(() => this.#expire(), Math.min(limits.idleMs, 60_000)).unref();
  }

  get size(): number {
    return this.#sessions.size;
  }

  /**
   * Opens a session for an `initialize` request. It is in use until `leave` is called, which closes it if the SDK gave
   * it no id. Only its owner can enter it. Returns undefined if the client has no more sessions, and all that it has
   * are in use.
   */
  async open(owner?: Principal, options: OpenOptions = {}): Promise<ActiveSession | undefined> {
    const client = options.limits?.key ?? '';
    const weight = Math.max(1, Math.ceil((options.length ?? 0) / LENGTH_OF_ONE));
    while (!this.#pool.tryTake(client, weight)) if (!this.#evict(client)) return undefined;
    let id: string | undefined;
    const replay = new ReplayBuffer(this.#replayBudget);
    const transport = new WebStandardStreamableHTTPServerTransport({
      eventStore: replay,
      retryInterval: RETRY_MS,
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (given) => {
        id = given;
        this.#sessions.set(given, session);
      },
    });
    const { server, peer } = this.#newServerFor(owner, options, () => this.#pool.give(client, weight));
    const session: HttpSession = {
      transport,
      peer,
      calls: new InFlight(),
      replay,
      owner,
      client,
      weight,
      open: 1,
      lastUsed: performance.now(),
    };
    const leave = (): void => {
      if (id !== undefined) {
        touch(session, -1);
        return;
      }
      this.#pool.give(client, weight);
      transport.close().catch(() => {});
    };
    try {
      const { onclose } = server;
      server.onclose = () => {
        this.#remove(session);
        for (const call of session.calls.all()) call.cancel();
        replay.close();
        onclose?.();
      };
      await server.connect(transport);
    } catch (error) {
      leave();
      throw error;
    }
    return { transport, peer, calls: session.calls, replay, leave };
  }

  /** Marks a session as in use until `leave` is called. Returns undefined if this owner has no session of that id. */
  enter(id: string, owner?: Principal): ActiveSession | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || session.owner !== owner) return undefined;
    touch(session, 1);
    const { transport, peer, calls, replay } = session;
    return { transport, peer, calls, replay, leave: () => touch(session, -1) };
  }

  /** Closes all sessions. */
  async close(): Promise<void> {
    clearInterval(this.#expiry);
    await Promise.all([...this.#sessions.values()].map(({ transport }) => transport.close()));
    for (const session of this.#sessions.values()) this.#remove(session);
  }

  /** Makes the server of a session. If that fails, its place is given back. */
  #newServerFor(owner: Principal | undefined, options: OpenOptions, undo: () => void): ReturnType<NewSessionServer> {
    try {
      return this.#newServer(owner, options);
    } catch (error) {
      undo();
      throw error;
    }
  }

  /** Closes the least recently used session of a client that has no open request, and reports whether there was one. */
  #evict(client: string): boolean {
    let oldest: HttpSession | undefined;
    for (const session of this.#sessions.values()) {
      if (session.client !== client) continue;
      if (session.open === 0 && session.lastUsed < (oldest?.lastUsed ?? Number.POSITIVE_INFINITY)) oldest = session;
    }
    if (oldest !== undefined) this.#end(oldest);
    return oldest !== undefined;
  }

  #expire(): void {
    const limit = performance.now() - this.#limits.idleMs;
    for (const session of this.#sessions.values()) {
      if (session.open === 0 && session.lastUsed < limit) this.#end(session);
      else session.replay.expire();
    }
  }

  #end(session: HttpSession): void {
    this.#remove(session);
    session.transport.close().catch(() => {});
  }

  #remove({ transport, client, weight }: HttpSession): void {
    if (this.#sessions.delete(transport.sessionId ?? '')) this.#pool.give(client, weight);
  }
}

function touch(session: HttpSession, change: 1 | -1): void {
  session.open += change;
  session.lastUsed = performance.now();
}
