import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpHttpHandler,
  type McpRequestContext,
  type RequestId,
} from '@modelcontextprotocol/server';
import { StoreUnavailable } from '../../cluster/shared-store.ts';
import type { Service } from '../call/service.ts';
import { ToolCaller } from '../call/tool-caller.ts';
import { type Peer, sessionPeer } from '../clients/peer.ts';
import type { Principal } from '../clients/principals.ts';
import type { ClientLimits } from '../limits/client-limits.ts';
import type { FairPool } from '../limits/fair-pool.ts';
import type { HeldBytes } from '../limits/held-bytes.ts';
import { FastPath } from '../protocol/fast/fast-path.ts';
import { plainRequest } from '../protocol/fast/plain-request.ts';
import { type NewServer, sdkServerFactory } from '../protocol/sdk/sdk-server.ts';
import { SessionIds } from '../sessions/session-id.ts';
import { ClientDisconnect } from './client-disconnect.ts';
import {
  EVENT_NOT_KEPT,
  INITIALIZE_TOO_LONG,
  LOOK_FIRST,
  MAX_INITIALIZE_BYTES,
  METHOD_NOT_ALLOWED,
  NOT_ENDED_EVERYWHERE,
  NOT_FOR_THIS_TOKEN,
  NOT_PASSED_ON,
  SESSION_NOT_FOUND,
  SESSION_REQUIRED,
  TOO_MANY_SESSIONS,
} from './endpoint-errors.ts';
import { cancelCall, HttpFastPath } from './http-fast-path.ts';
import { SHARE_TAKEN } from './http-limits.ts';
import { ALIVE_MS, RETRY_MS, streamHeaders, writeKeepAlive } from './http-reply.ts';
import type { NewSession } from './http-session.ts';
import { rateRefusal, sharedRefusal } from './rate-response.ts';
import { originOf, type ReplayBudget } from './replay-buffer.ts';
import { BadBody, readJson } from './request-body.ts';
import { acceptsStreams, sendError, sendWebResponse, toWebRequest } from './sdk-response.ts';
import { type ActiveSession, type Refusal, type SessionLimits, Sessions } from './sessions.ts';

const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** What must be left for a request to be answered. */
const REQUEST_BYTES = 16 * 1024;

/**
 * What must be left for each more message of a JSON-RPC batch: its answer waits for the client together with the
 * others.
 */
const BATCHED_BYTES = 1024 * 1024;
/** The SDK refuses a longer batch. */
const MAX_BATCH = 100;

/** The limits of an endpoint. */
export interface EndpointOptions {
  readonly sessions: SessionLimits;
  /** Whether plain requests are answered without the SDK. */
  readonly fastPath: boolean;
  /** What the sessions of all endpoints may keep of their event streams. */
  readonly replayBudget: ReplayBudget;
  /** Makes the SDK servers; by default those of the service. */
  readonly newServer?: NewServer | undefined;
}

/** Who sends a request, and what it may take. */
export interface RequestClient {
  /** Undefined where no tokens are configured. */
  readonly principal: Principal | undefined;
  readonly limits: ClientLimits;
  /** Requests that wait for the scheduler. Clients take turns in it, however many requests each of them sends. */
  readonly turns: FairPool;
  /** The memory that the request takes. Whoever made the request frees it. */
  readonly held: HeldBytes;
}

/** A request whose body is parsed, with what it takes to answer it. */
interface EndpointRequest extends RequestClient {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly disconnect: ClientDisconnect;
  /** Undefined for a request without a body. */
  readonly body: unknown;
  /** The length of the body in bytes. */
  readonly length: number;
  /** Why its session cannot go on. That is found out once, because it may take a question to the store. */
  refused: Refusal | undefined;
}

/** Serves MCP's Streamable HTTP transport at one path: 2026-07-28 without state, older revisions in sessions. */
export class McpEndpoint {
  readonly #service: Service;
  readonly #newServer: NewServer;
  readonly #fastPath: HttpFastPath | undefined;
  readonly #sessions: Sessions;
  /** The peer of 2026-07-28 requests where no tokens are configured. */
  readonly #anonymous: Peer;
  /** The SDK's handlers for 2026-07-28, one for each principal, so that principals share no state of the SDK. */
  readonly #handlers = new Map<Principal | undefined, McpHttpHandler>();
  /** The peers of requests that the SDK's handlers are answering. */
  readonly #peers = new WeakMap<Request, Peer>();

  constructor(service: Service, { sessions, fastPath, replayBudget, newServer }: EndpointOptions) {
    const caller = new ToolCaller(service);
    this.#service = service;
    this.#anonymous = { client: undefined, roots: service.roots };
    this.#newServer = newServer ?? sdkServerFactory(service, caller);
    this.#sessions = new Sessions((session) => this.#newSession(session), {
      limits: sessions,
      replayBudget,
      dialect: service.dialect.name,
      ids: new SessionIds(service.signingKeys),
      store: service.store,
    });
    if (fastPath) {
      const { description, running, resultForms } = service;
      this.#fastPath = new HttpFastPath(new FastPath({ description, running, resultForms, load: async () => caller }));
    }
  }

  /** Answers a request: by the fast path if it can, else by the SDK. */
  async handle(request: IncomingMessage, response: ServerResponse, client: RequestClient): Promise<void> {
    const { principal, limits, turns, held } = client;
    const { boundRoot, scheduler } = this.#service;
    if (principal !== undefined && boundRoot !== undefined && !principal.roots.has(boundRoot)) {
      return sendError(response, NOT_FOR_THIS_TOKEN);
    }
    if (request.method !== 'POST' && request.method !== 'GET' && request.method !== 'DELETE') {
      return sendError(response, METHOD_NOT_ALLOWED);
    }
    const disconnect = new ClientDisconnect(response);
    const body = request.method === 'POST' ? await readBody(request, response, held) : undefined;
    if (body === REFUSED) return;
    // The body is held twice.
    const length = held.size / 2;
    const { rate } = limits;
    const refusal = rate && (rate.takeShared === undefined ? rateRefusal(body, rate) : await sharedRefusal(body, rate));
    if (refusal !== undefined) return sendError(response, refusal);
    const turn = turns.take(limits.key);
    if (turn !== undefined) await turn;
    await scheduler.admit();
    turns.give(limits.key);
    const batched = Array.isArray(body) ? Math.min(body.length, MAX_BATCH) : 0;
    if (!held.tryGrow(REQUEST_BYTES + batched * BATCHED_BYTES)) return sendError(response, SHARE_TAKEN);
    // Without a spread, which takes as long as a system call.
    const received: EndpointRequest = {
      principal,
      limits,
      turns,
      held,
      request,
      response,
      disconnect,
      body,
      length,
      refused: undefined,
    };
    if (request.method === 'GET' && (await this.#resumeFastPath(received))) return;
    if (await this.#answerByFastPath(received)) return;
    await this.#answerBySdk(received);
  }

  /** How many sessions there are. */
  get sessions(): number {
    return this.#sessions.size;
  }

  /** Returns the clients of all sessions, each as often as it has one. */
  peers(): Peer[] {
    return this.#sessions.peers();
  }

  /** Closes all sessions and the SDK's handlers. */
  async close(): Promise<void> {
    await this.#sessions.close();
    await Promise.all([...this.#handlers.values()].map((handler) => handler.close()));
  }

  async #answerByFastPath(received: EndpointRequest): Promise<boolean> {
    const { request, response, disconnect, body, principal } = received;
    const fastPath = this.#fastPath;
    if (fastPath === undefined) return false;
    const plain = plainRequest(body);
    if (plain?.modern) {
      return fastPath.answerStateless({ request, response, plain }, this.#statelessPeer(received), disconnect);
    }
    const { 'mcp-session-id': id } = request.headers;
    if (typeof id !== 'string') return false;
    const session = this.#sessions.enter(id, principal) ?? (await this.#resume(id, received));
    if (typeof session === 'string') return false;
    try {
      if (plain !== undefined) return await fastPath.answerInSession({ request, response, plain }, session);
      // The SDK gets the notification as well: the call that it names may run there.
      cancelCall(session, body);
      return false;
    } finally {
      session.leave();
    }
  }

  /**
   * Continues an event stream of the fast path after the event that a client saw last, until the client is gone.
   * Returns false if the request is for the SDK, whose own streams it continues itself.
   */
  async #resumeFastPath(received: EndpointRequest): Promise<boolean> {
    const { request, response, disconnect, principal } = received;
    const { 'mcp-session-id': id, 'last-event-id': lastEventId, accept } = request.headers;
    if (typeof id !== 'string' || typeof lastEventId !== 'string' || !acceptsStreams(accept)) return false;
    const session = this.#sessions.enter(id, principal) ?? (await this.#resume(id, received));
    if (typeof session === 'string') return false;
    try {
      const next = session.replay.after(lastEventId);
      if (next === 'sdk') return false;
      if (next !== undefined) {
        next.reply.resume(response, next.lastSeen);
        await disconnect.promise;
      } else if (!(await this.#continueFromReplica(received, session, lastEventId))) {
        sendError(response, EVENT_NOT_KEPT);
      }
      return true;
    } finally {
      session.leave();
    }
  }

  /**
   * Continues an event stream that another replica has begun with the result of its call, or with an error if that is
   * not to be had: without either, the client would wait for it until it gives up. Returns false if the id of the event
   * does not say whose it is.
   */
  async #continueFromReplica({ response, disconnect }: EndpointRequest, session: ActiveSession, eventId: string) {
    const origin = originOf(eventId);
    if (origin === undefined) return false;
    const waiting = this.#sessions.restFromReplica(session, { ...origin, eventId }, disconnect.signal);
    if (waiting === undefined) return false;
    response.writeHead(200, streamHeaders({ sessionId: session.transport.sessionId })).flushHeaders();
    const alive = setInterval(() => writeKeepAlive(response), ALIVE_MS).unref();
    try {
      const rest = await waiting;
      if (!response.writableEnded) response.end(rest ?? lostResult(origin.request));
    } catch (error) {
      if (!disconnect.hasHappened) throw error;
    } finally {
      clearInterval(alive);
    }
    return true;
  }

  async #answerBySdk(received: EndpointRequest): Promise<void> {
    const { request, response, disconnect, body, principal, held } = received;
    const { signal } = disconnect;
    const web = toWebRequest(request, signal);
    const parsed: { parsedBody?: unknown } = body === undefined ? {} : { parsedBody: body };
    if (!(await isLegacyRequest(web, body))) {
      this.#peers.set(web, this.#statelessPeer(received));
      return sendWebResponse(response, await this.#handlerOf(principal).fetch(web, parsed), { signal, held });
    }
    const session = await this.#enterSession(received);
    if ('status' in session) return sendError(response, session);
    try {
      if (body !== undefined) {
        parsed.parsedBody = await this.#sessions.accept(session, body);
        if (parsed.parsedBody === undefined) return void response.writeHead(202).end();
      }
      const answer = await session.transport.handleRequest(web, parsed);
      if (request.method === 'DELETE' && answer.ok) await this.#end(session);
      const before = request.method === 'GET' && answer.ok ? RETRY : undefined;
      await sendWebResponse(response, answer, { signal, held, before });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      sendError(response, request.method === 'DELETE' ? NOT_ENDED_EVERYWHERE : NOT_PASSED_ON);
    } finally {
      session.leave();
    }
  }

  async #enterSession(received: EndpointRequest) {
    const { request, body, length, principal, limits } = received;
    const id = request.headers['mcp-session-id'];
    if (typeof id === 'string') {
      const session = this.#sessions.enter(id, principal) ?? (await this.#resume(id, received));
      if (session === 'unknown') return SESSION_NOT_FOUND;
      return session === 'too_many' ? TOO_MANY_SESSIONS : session;
    }
    if (!isInitializeRequest(body)) return SESSION_REQUIRED;
    if (length > MAX_INITIALIZE_BYTES) return INITIALIZE_TOO_LONG;
    const { protocolVersion, capabilities, clientInfo } = body.params;
    const client = { protocolVersion, capabilities, name: clientInfo.name };
    return (await this.#sessions.open(client, principal, { limits, length })) ?? TOO_MANY_SESSIONS;
  }

  /** Ends a session everywhere, with the files of a client that is known by the session only. */
  async #end({ transport, peer: { client } }: ActiveSession): Promise<void> {
    if (client?.kind === 'session') this.#service.agentFiles?.forget(client.key);
    await this.#sessions.end(transport.sessionId ?? '');
  }

  /** Goes on with a session that is not known here, unless this request was refused already. */
  async #resume(id: string, received: EndpointRequest): Promise<ActiveSession | Refusal> {
    if (received.refused !== undefined) return received.refused;
    const { principal, limits } = received;
    const session = await this.#sessions.resume(id, principal, { limits });
    if (typeof session === 'string') received.refused = session;
    return session;
  }

  /** Returns who sends a request that belongs to no session. */
  #statelessPeer({ principal, limits }: EndpointRequest): Peer {
    const { client, roots } = principal ?? this.#anonymous;
    return { client, roots, limits };
  }

  #newSession({ owner, limits, clientName, digest }: NewSession) {
    const { agentFiles, roots } = this.#service;
    const peer: Peer = { ...(owner ?? sessionPeer(roots, digest)), limits, clientName };
    const server = this.#newServer(peer, 'legacy');
    const { client } = peer;
    // The files of a principal outlive its sessions.
    if (client?.kind === 'session') server.onclose = () => agentFiles?.drop(client.key);
    return { server, peer };
  }

  #handlerOf(principal: Principal | undefined): McpHttpHandler {
    const found = this.#handlers.get(principal);
    if (found !== undefined) return found;
    const { logger } = this.#service;
    const onerror = (error: Error): void => logger.debug({ problem: error.name }, 'protocol error');
    const newServer = ({ requestInfo }: McpRequestContext) => {
      const peer = requestInfo && this.#peers.get(requestInfo);
      if (peer === undefined) throw new Error('a request of an unknown client');
      return this.#newServer(peer, 'modern');
    };
    const handler = createMcpHandler(newServer, { legacy: 'reject', onerror });
    this.#handlers.set(principal, handler);
    return handler;
  }
}

/** Returns the event that answers a request whose result is lost. */
function lostResult(id: RequestId): string {
  const message = `The server process that ran this request is gone, or keeps its result no longer. ${LOOK_FIRST}`;
  return `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message } })}\n\n`;
}

/** Says how long to wait before connecting again, without being an event. */
const RETRY = `retry: ${RETRY_MS}\n\n`;

const REFUSED = Symbol('refused');

/** Parses the body of a POST. Returns `REFUSED` if it cannot be used, in which case the response is sent already. */
async function readBody(request: IncomingMessage, response: ServerResponse, held: HeldBytes): Promise<unknown> {
  try {
    return await readJson(request, MAX_BODY_BYTES, held);
  } catch (error) {
    if (!(error instanceof BadBody)) {
      // The client closed the connection while sending.
      response.destroy();
      return REFUSED;
    }
    // The rest of the body has to be read, or the connection could not be used again.
    request.resume();
    sendError(response, error.response);
    return REFUSED;
  }
}
