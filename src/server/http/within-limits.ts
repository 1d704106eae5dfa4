import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../clients/principals.ts';
import type { Connections } from './connections.ts';
import { type HttpLimits, SHARE_TAKEN } from './http-limits.ts';
import type { RequestClient } from './mcp-endpoint.ts';
import { STALLED_MS, sendError } from './sdk-response.ts';

/** A request whose sender may use this server. */
export interface AdmittedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Undefined where no tokens are configured. */
  readonly principal: Principal | undefined;
}

/** What the server's clients share. */
export interface Shared {
  readonly limits: HttpLimits;
  readonly connections: Connections;
}

/**
 * Answers a request if its client has something left of its share of the server, else with 503. What the request takes
 * counts until the client has read the answer, which it has to do within a time.
 */
export async function answerWithinLimits(
  { request, response, principal }: AdmittedRequest,
  { limits, connections }: Shared,
  answer: (client: RequestClient) => Promise<void>,
): Promise<void> {
  const client = limits.of(principal, connections.addressOf(request));
  const { key } = client;
  const pools = request.method === 'GET' ? [limits.requests, limits.streams] : [limits.requests];
  const taken = pools.filter((pool) => pool.tryTake(key));
  response.once('close', () => {
    for (const pool of taken) pool.give(key);
  });
  if (taken.length < pools.length) return sendError(response, SHARE_TAKEN);
  connections.assign(request, key);
  const held = limits.holdFor(key);
  try {
    await answer({ principal, limits: client, turns: limits.turns, held });
  } finally {
    const unread = response.destroyed ? 0 : response.writableLength;
    held.set(unread);
    if (unread > 0) {
      response.once('close', () => held.set(0));
      response.socket?.setTimeout(STALLED_MS);
    }
  }
}
