import { randomUUID } from 'node:crypto';
import type { Client, UndoScope } from '../../tools/client.ts';
import type { Roots } from '../../tools/roots.ts';
import type { ClientLimits } from '../limits/client-limits.ts';
import type { RateLimiter } from '../limits/token-bucket.ts';

/** The client at the other end of a connection, and the roots that it is allowed to see. */
export interface Peer {
  readonly roots: Roots;
  /** Undefined where calls of different clients cannot be told apart: 2026-07-28 over HTTP without tokens. */
  readonly client: Client | undefined;
  /** The name of the program, as it declared itself in a handshake; undefined if each request says it, or none. */
  readonly clientName?: string | undefined;
  /** What limits the calls of the client; undefined if nothing does. */
  readonly limits?: ClientLimits | undefined;
}

/** The key of the client on stdio, of which a process has one. Those of others differ, also in a history. */
const PROCESS_KEY = `process:${randomUUID()}`;

/** Returns the peer on stdio: the process that started this server. */
export function processPeer(roots: Roots, rates?: RateLimiter): Peer {
  const client = identity('process', PROCESS_KEY);
  const limits = rates && { key: client.key, rate: rates.ofProcess(), calls: undefined };
  return { roots, client, limits };
}

/**
 * Returns the peer that is known by its HTTP session only. Its key is the digest of the session id, which is the same in
 * all replicas; the id itself is a credential, which must not reach a log.
 */
export function sessionPeer(roots: Roots, digest: string): Peer {
  return { roots, client: identity('session', `session:${digest}`) };
}

/**
 * Returns a client without an identity, which lasts for one call. Later rounds of a call pass the key of its first
 * round.
 */
export function anonymousClient(key: string = `anonymous:${randomUUID()}`): Client {
  return identity('anonymous', key);
}

/** Returns the client that a bearer token of this name identifies, and whose changes it may undo. */
export function principalClient(name: string, undo?: UndoScope): Client {
  const client = identity('principal', `principal:${name}`);
  return undo === undefined ? client : { ...client, undo };
}

/** Returns the name of a client in the log, by its key; undefined for an anonymous one. */
export function clientName(key: string): string | undefined {
  const [kind, id = ''] = key.split(/:(.*)/, 2);
  if (kind === 'principal') return id;
  if (kind === 'session') return `session-${id.slice(0, 8)}`;
  return kind === 'process' ? 'stdio' : undefined;
}

function identity(kind: Client['kind'], key: string): Client {
  return { key, kind, name: clientName(key) };
}
