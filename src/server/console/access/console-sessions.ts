import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Viewer } from '../model/viewers.ts';

const COOKIE = 'ringfence_console';
/** How long somebody stays signed in. */
const MAX_AGE_MS = 12 * 60 * 60_000;
/** How many may be signed in. The one that was not used for longest has to go. */
const MAX_SESSIONS = 200;

/** Somebody who is signed in. */
export interface ConsoleSession {
  readonly id: string;
  /** What the page keeps for itself and sends along. See `ConsoleSessions.of`. */
  readonly key: string;
  readonly viewer: Viewer;
}

interface KeptSession extends ConsoleSession {
  readonly expires: number;
}

/** Who is signed in, by a random id that only a cookie holds and a key that only the page holds. */
export class ConsoleSessions {
  /** From the least to the most recently used. */
  readonly #sessions = new Map<string, KeptSession>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  open(viewer: Viewer): ConsoleSession {
    const expires = this.#now() + MAX_AGE_MS;
    const session = { id: randomId(), key: randomId(), viewer, expires };
    for (const id of this.#sessions.keys()) if (this.#sessions.size >= MAX_SESSIONS) this.#sessions.delete(id);
    this.#sessions.set(session.id, session);
    return session;
  }

  /**
   * Returns the session whose cookie and key a request has; undefined if it has none, or an expired one. A browser sends a
   * cookie to every port of a host, so another server on it, such as one that an agent has started, gets the cookie
   * alone. The page's storage, where the key is, belongs to one port.
   */
  of(request: IncomingMessage, key: string): ConsoleSession | undefined {
    const session = this.#sessions.get(cookieOf(request) ?? '');
    if (session === undefined || !this.isOpen(session) || !isEqual(session.key, key)) return undefined;
    this.#sessions.delete(session.id);
    this.#sessions.set(session.id, session);
    return session;
  }

  /** Reports whether a session has neither ended nor expired. */
  isOpen({ id }: ConsoleSession): boolean {
    const session = this.#sessions.get(id);
    if (session !== undefined && this.#now() < session.expires) return true;
    this.#sessions.delete(id);
    return false;
  }

  close({ id }: ConsoleSession): void {
    this.#sessions.delete(id);
  }
}

function randomId(): string {
  return randomBytes(32).toString('base64url');
}

function isEqual(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Returns the cookie for a session: no script can read it, and no other site can send it along. */
export function cookieFor({ id }: ConsoleSession, request: IncomingMessage): string {
  return cookie(id, MAX_AGE_MS / 1000, request);
}

/** Returns the cookie that replaces that of a session which has ended. */
export function endedCookie(request: IncomingMessage): string {
  return cookie('', 0, request);
}

function cookie(value: string, seconds: number, request: IncomingMessage): string {
  const secure = isOverTls(request) ? '; Secure' : '';
  return `${COOKIE}=${value}; Path=/console; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}

/** Reports whether the client's connection is encrypted, by this server or by a proxy before it. */
function isOverTls({ socket, headers }: IncomingMessage): boolean {
  const forwarded = String(headers['x-forwarded-proto'] ?? '').split(',', 1)[0];
  return 'encrypted' in socket || forwarded?.trim().toLowerCase() === 'https';
}

function cookieOf({ headers }: IncomingMessage): string | undefined {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === COOKIE) return value;
  }
  return undefined;
}
