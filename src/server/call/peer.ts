import { randomUUID } from 'node:crypto';
import type { Client } from '../../tools/client.ts';
import type { Roots } from '../../tools/roots.ts';

/** The other end of a connection: who it is, and the roots that it may know of. */
export interface Peer {
  readonly roots: Roots;
  /** Undefined where nothing tells one call's client from another's. */
  readonly client: Client | undefined;
}

/** The process that started us. */
export function processPeer(roots: Roots): Peer {
  return { roots, client: identity('process', 'process') };
}

/**
 * A client that is known by its session only. Its key is not the session's id, which opens the session to whoever has it
 * and so belongs in no log.
 */
export function sessionPeer(roots: Roots): Peer {
  return { roots, client: identity('session', `session:${randomUUID()}`) };
}

/** A client without a name for the time of one call; for a later round of that call under the key of its first. */
export function anonymousClient(key: string = `anonymous:${randomUUID()}`): Client {
  return identity('anonymous', key);
}

/** Who a token belongs to. */
export function principalClient(name: string): Client {
  return identity('principal', `principal:${name}`);
}

/** By what the client of that key is known in the log; undefined for one without a name. */
export function clientName(key: string): string | undefined {
  const [kind, id = ''] = key.split(/:(.*)/, 2);
  if (kind === 'principal') return id;
  if (kind === 'session') return `session-${id.slice(0, 8)}`;
  return kind === 'process' ? 'stdio' : undefined;
}

function identity(kind: Client['kind'], key: string): Client {
  return { key, kind, name: clientName(key) };
}
