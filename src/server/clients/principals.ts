import { createHash, timingSafeEqual } from 'node:crypto';
import type { AuthConfig, TokenConfig } from '../../config/config.ts';
import type { Client } from '../../tools/client.ts';
import type { Roots } from '../../tools/roots.ts';
import { type Peer, principalClient } from './peer.ts';

/** A client that is authenticated by a bearer token. */
export interface Principal extends Peer {
  readonly client: Client;
  /** Whether the token may be used for the console and the metrics. */
  readonly console: boolean;
}

interface TokenEntry {
  readonly sha256: Buffer;
  readonly principal: Principal;
}

/** The clients that may call over HTTP, by their tokens, each with the roots that it is allowed to see. */
export class Principals {
  #entries: readonly TokenEntry[] = [];

  constructor(auth: AuthConfig, roots: Roots) {
    this.replace(auth, roots);
  }

  /**
   * Replaces the tokens, and returns the principals that have none any more. A principal stays the same object for
   * as long as there is a token of its name, so that its sessions go on with what it may use from now on.
   */
  replace({ tokens }: AuthConfig, roots: Roots): Principal[] {
    const known = new Map(this.#entries.map(({ principal }) => [principal.client.name, principal]));
    this.#entries = tokens.map((token) => {
      const principal = principalOf(token, roots);
      const before = known.get(token.name);
      if (before === undefined) return { sha256: token.sha256, principal };
      known.delete(token.name);
      before.roots.replace(principal.roots.all());
      // Sessions hold the client and the roots themselves.
      Object.assign(before.client, { undo: undefined }, principal.client);
      Object.assign(before, { ...principal, client: before.client, roots: before.roots });
      return { sha256: token.sha256, principal: before };
    });
    return [...known.values()];
  }

  /** How many there are. */
  get size(): number {
    return this.#entries.length;
  }

  /** Returns the principal of a token; undefined for an unknown token. The time taken does not depend on the token. */
  byToken(token: string): Principal | undefined {
    const shown = createHash('sha256').update(token).digest();
    let found: Principal | undefined;
    for (const { sha256, principal } of this.#entries) if (timingSafeEqual(sha256, shown)) found = principal;
    return found;
  }
}

function principalOf(token: TokenConfig, roots: Roots): Principal {
  const { name, roots: names, tools, undo, console = false } = token;
  return { client: principalClient(name, undo), roots: roots.only(names, tools), console };
}
