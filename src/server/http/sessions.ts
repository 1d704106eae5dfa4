import { randomUUID } from 'node:crypto';
import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { InFlight } from '../call/in-flight.ts';
import type { Peer } from '../call/peer.ts';
import type { Principal } from '../call/principals.ts';
import type { FastCall } from '../protocol/fast/fast-path.ts';
import { RETRY_MS } from './http-reply.ts';
import { ReplayBudget, ReplayBuffer } from './replay-buffer.ts';

/** How many sessions there may be, and for how long. */
export interface SessionLimits {
  readonly maxSessions: number;
  /** How long a session may be unused before it is closed. */
  readonly idleMs: number;
}

/** The limits by default. */
export const SESSION_LIMITS: SessionLimits = { maxSessions: 1_000, idleMs: 30 * 60_000 };

interface HttpSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly peer: Peer;
  /** Calls that run on the fast path. They are cancelled when the session ends. */
  readonly calls: InFlight<FastCall>;
  /** What was sent to the client of late, in case that it did not arrive. */
  readonly replay: ReplayBuffer;
  /** The principal that opened the session and alone may use it; undefined where no tokens are configured. */
  readonly owner: Principal | undefined;
  /** The number of requests being answered, including open event streams. */
  open: number;
  lastUsed: number;
}

/** A session in use. */
export interface ActiveSession extends Pick<HttpSession, 'transport' | 'peer' | 'calls' | 'replay'> {
  /** Must be called once, when the request is answered. */
  leave(): void;
}

/** Makes the SDK server and the peer of a new session. The server's `onclose` is called when the session ends, for any reason. */
type NewSessionServer = (
  owner: Principal | undefined,
  clientName: string | undefined,
) => { readonly server: Server; readonly peer: Peer };

/**
 * The HTTP sessions of clients that speak a revision before 2026-07-28, bounded in number and in idle time. When all are taken, a
 * new one replaces the least recently used one that has no open request (LRU).
 */
export class Sessions {
  readonly #sessions = new Map<string, HttpSession>();
  readonly #newServer: NewSessionServer;
  readonly #limits: SessionLimits;
  readonly #replayBudget: ReplayBudget;
  readonly #expiry: NodeJS.Timeout;
  /** Sessions that have no id yet. They count, or many clients at once could exceed the limit. */
  #opening = 0;

  constructor(newServer: NewSessionServer, limits: SessionLimits = SESSION_LIMITS, replayBudget = new ReplayBudget()) {
    this.#newServer = newServer;
    this.#limits = limits;
    this.#replayBudget = replayBudget;
    this.#expiry = setInterval(() => this.#expire(), Math.min(limits.idleMs, 60_000)).unref();
  }

  get size(): number {
    return this.#sessions.size;
  }

  /**
   * Opens a session for an `initialize` request. It is in use until `leave` is called, which closes it if the SDK gave it no id. Only
   * its owner can enter it. Returns undefined if all sessions are in use.
   */
  async open(owner?: Principal, clientName?: string): Promise<ActiveSession | undefined> {
    if (this.#sessions.size + this.#opening >= this.#limits.maxSessions && !this.#evict()) return undefined;
    let id: string | undefined;
    const replay = new ReplayBuffer(this.#replayBudget);
    const transport = new WebStandardStreamableHTTPServerTransport({
      eventStore: replay,
      retryInterval: RETRY_MS,
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (given) => {
        id = given;
        this.#opening -= 1;
        this.#sessions.set(given, session);
      },
    });
    const { server, peer } = this.#newServer(owner, clientName);
    const session: HttpSession = {
      transport,
      peer,
      calls: new InFlight(),
      replay,
      owner,
      open: 1,
      lastUsed: performance.now(),
    };
    const leave = (): void => {
      if (id !== undefined) {
        touch(session, -1);
        return;
      }
      this.#opening -= 1;
      transport.close().catch(() => {});
    };
    this.#opening += 1;
    try {
      const { onclose } = server;
      server.onclose = () => {
        this.#sessions.delete(transport.sessionId ?? '');
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
    this.#sessions.clear();
  }

  /** Closes the least recently used session that has no open request, and reports whether there was one. */
  #evict(): boolean {
    let oldest: HttpSession | undefined;
    for (const session of this.#sessions.values()) {
      if (session.open === 0 && session.lastUsed < (oldest?.lastUsed ?? Number.POSITIVE_INFINITY)) oldest = session;
    }
    if (oldest !== undefined) this.#end(oldest.transport);
    return oldest !== undefined;
  }

  #expire(): void {
    const limit = performance.now() - this.#limits.idleMs;
    for (const { transport, replay, open, lastUsed } of this.#sessions.values()) {
      if (open === 0 && lastUsed < limit) this.#end(transport);
      else replay.expire();
    }
  }

  #end(transport: WebStandardStreamableHTTPServerTransport): void {
    this.#sessions.delete(transport.sessionId ?? '');
    transport.close().catch(() => {});
  }
}

function touch(session: HttpSession, change: 1 | -1): void {
  session.open += change;
  session.lastUsed = performance.now();
}
