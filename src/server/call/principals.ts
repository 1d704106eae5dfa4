import { createHash, timingSafeEqual } from 'node:crypto';
import type { AuthConfig } from '../../config/config.ts';
import type { Client } from '../../tools/client.ts';
import type { Roots } from '../../tools/roots.ts';
import { type Peer, principalClient } from './peer.ts';

/** A client that is authenticated by a bearer token. */
export interface Principal extends Peer {
  readonly client: Client;
}

interface TokenEntry {
  readonly sha256: Buffer;
  readonly principal: Principal;
}

/** The clients that may call over HTTP, by their tokens, each with the roots that it is allowed to see. */
export class Principals {
  readonly #entries: readonly TokenEntry[];

  constructor({ tokens }: AuthConfig, roots: Roots) {
    this.#entries = tokens.map(({ name, sha256, roots: names, tools, undo }) => ({
      sha256,
      principal: { client: principalClient(name, undo), roots: roots.only(names, tools) },
    }));
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
