import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { AuthConfig } from '../../config/index.ts';
import type { Client } from '../../tools/client.ts';
import type { Roots } from '../../tools/roots.ts';
import type { HttpError } from '../http/web.ts';
import { type Peer, principalClient } from './peer.ts';

/** One who may call, by the token it shows. */
export interface Principal extends Peer {
  readonly client: Client;
}

interface Entry {
  readonly sha256: Buffer;
  readonly principal: Principal;
}

/** Those who may call over HTTP, each with the roots that it may know of. */
export class Principals {
  readonly #entries: readonly Entry[];

  constructor({ tokens }: AuthConfig, roots: Roots) {
    this.#entries = tokens.map(({ name, sha256, roots: names }) => ({
      sha256,
      principal: { client: principalClient(name), roots: roots.only(names) },
    }));
  }

  /** The one whose token this is. Takes equally long for each token and for none. */
  byToken(token: string): Principal | undefined {
    const shown = createHash('sha256').update(token).digest();
    let found: Principal | undefined;
    for (const { sha256, principal } of this.#entries) if (timingSafeEqual(sha256, shown)) found = principal;
    return found;
  }

  /** Who sends a request, by its `Authorization` header alone; else the answer that it gets. */
  authenticate({ headers }: IncomingMessage): Principal | HttpError {
    const token = /^bearer +([\x21-\x7e]+) *$/i.exec(headers.authorization ?? '')?.[1];
    if (token === undefined) return unauthorized('a bearer token is required', '');
    return this.byToken(token) ?? unauthorized('the bearer token is not known here', ', error="invalid_token"');
  }
}

function unauthorized(problem: string, challenge: string): HttpError {
  return {
    status: 401,
    message: `Unauthorized: ${problem}`,
    headers: { 'www-authenticate': `Bearer realm="ringfence"${challenge}` },
  };
}
