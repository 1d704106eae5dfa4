import { randomUUID } from 'node:crypto';
import type { Client } from '../tools/client.ts';
import type { Roots } from '../tools/roots.ts';

/** The other end of a connection: who it is, and the roots that it may know of. */
export interface Peer {
  readonly roots: Roots;
  /** Undefined where nothing tells one call's client from another's. */
  readonly client: Client | undefined;
}

/** The process that started us. */
export function processPeer(roots: Roots): Peer {
  return { roots, client: { key: 'process', kind: 'process', name: 'stdio' } };
}

/**
 * A client that is known by its session only. Its key is not the session's id, which opens the session to whoever has it
 * and so belongs in no log.
 */
export function sessionPeer(roots: Roots): Peer {
  const id = randomUUID();
  return { roots, client: { key: `session:${id}`, kind: 'session', name: `session-${id.slice(0, 8)}` } };
}

/** A client without a name for the time of one call; for a later round of that call under the key of its first. */
export function anonymousClient(key: string = `anonymous:${randomUUID()}`): Client {
  return { key, kind: 'anonymous', name: undefined };
}
