import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpHttpHandler,
  type McpRequestContext,
} from '@modelcontextprotocol/server';
import { type Peer, sessionPeer } from '../call/peer.ts';
import type { Principal } from '../call/principals.ts';
import type { Service } from '../call/service.ts';
import { ToolCaller } from '../call/tool-caller.ts';
import type { ClientLimits } from '../limits/client-limits.ts';
import type { FairPool } from '../limits/fair-pool.ts';
import type { HeldBytes } from '../limits/held-bytes.ts';
import type { TokenBucket } from '../limits/token-bucket.ts';
import { FastPath } from '../protocol/fast/fast-path.ts';
import { plainRequest } from '../protocol/fast/plain-request.ts';
import { refuseByRate } from '../protocol/rate-refusal.ts';
import { type NewServer, sdkServerFactory } from '../protocol/sdk/sdk-server.ts';
import { ClientDisconnect } from './client-disconnect.ts';
import { cancelCall, HttpFastPath } from './http-fast-path.ts';
import { SHARE_TAKEN } from './http-limits.ts';
import { RETRY_MS } from './http-reply.ts';
import type { ReplayBudget } from './replay-buffer.ts';
import { BadBody, readJson } from './request-body.ts';
import { acceptsStreams, type HttpError, sendError, sendWebResponse, toWebRequest } from './sdk-response.ts';
import { type OpenOptions, type SessionLimits, Sessions } from './sessions.ts';

const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** The longest `initialize`: far more than a client has to say, but a session keeps it. */
const MAX_INITIALIZE_BYTES = 64 * 1024;
/** What must be left for a request to be answered. */
const REQUEST_BYTES = 16 * 1024;

/**
 * What must be left for each more message of a JSON-RPC batch: its answer waits for the client together with the
 * others.
 */
const BATCHED_BYTES = 1024 * 1024;
/** The SDK refuses a longer batch. */
const MAX_BATCH = 100;

const NOT_FOR_THIS_TOKEN: HttpError = { status: 403, message: 'Forbidden: this token may not be used here' };
const METHOD_NOT_ALLOWED: HttpError = {
  status: 405,
  message: 'Method not allowed',
  headers: { allow: 'GET, POST, DELETE' },
};
const SESSION_REQUIRED: HttpError = { status: 400, message: 'Bad Request: the Mcp-Session-Id header is required' };
const SESSION_NOT_FOUND: HttpError = { status: 404, code: -32001, message: 'Session not found' };
const EVENT_NOT_KEPT: HttpError = {
  status: 400,
  message: 'Bad Request: what followed this Last-Event-ID is not kept here; send the request again',
};
const INITIALIZE_TOO_LONG: HttpError = {
  status: 413,
  message: `Payload Too Large: initialize must not exceed ${MAX_INITIALIZE_BYTES} bytes`,
};
const TOO_MANY_SESSIONS: HttpError = {
  status: 503,
  message: 'Too many sessions in use; try again later',
  headers: { 'retry-after': '30' },
};

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
    this.#sessions = new Sessions((owner, options) => this.#newSession(owner, options), sessions, replayBudget);
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
    const refusal = limits.rate && rateRefusal(body, limits.rate);
    if (refusal !== undefined) return sendError(response, refusal);
    const turn = turns.take(limits.key);
    if (turn !== undefined) await turn;
    await scheduler.admit();
    turns.give(limits.key);
    const batched = Array.isArray(body) ? Math.min(body.length, MAX_BATCH) : 0;
    if (!held.tryGrow(REQUEST_BYTES + batched * BATCHED_BYTES)) return sendError(response, SHARE_TAKEN);
    // Without a spread, which takes as long as a system call.
    const received: EndpointRequest = { principal, limits, turns, held, request, response, disconnect, body, length };
    if (request.method === 'GET' && (await this.#resumeFastPath(received))) return;
    if (await this.#answerByFastPath(received)) return;
    await this.#answerBySdk(received);
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
    const session = typeof id === 'string' ? this.#sessions.enter(id, principal) : undefined;
    if (session === undefined) return false;
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
  async #resumeFastPath({ request, response, disconnect, principal }: EndpointRequest): Promise<boolean> {
    const { 'mcp-session-id': id, 'last-event-id': lastEventId, accept } = request.headers;
    if (typeof id !== 'string' || typeof lastEventId !== 'string' || !acceptsStreams(accept)) return false;
    const session = this.#sessions.enter(id, principal);
    if (session === undefined) return false;
    try {
      const next = session.replay.after(lastEventId);
      if (next === 'sdk') return false;
      if (next === undefined) {
        sendError(response, EVENT_NOT_KEPT);
      } else {
        next.reply.resume(response, next.lastSeen);
        await disconnect.promise;
      }
      return true;
    } finally {
      session.leave();
    }
  }

  async #answerBySdk(received: EndpointRequest): Promise<void> {
    const { request, response, disconnect, body, principal, held } = received;
    const { signal } = disconnect;
    const web = toWebRequest(request, signal);
    const parsed = body === undefined ? {} : { parsedBody: body };
    if (!(await isLegacyRequest(web, body))) {
      this.#peers.set(web, this.#statelessPeer(received));
      return sendWebResponse(response, await this.#handlerOf(principal).fetch(web, parsed), { signal, held });
    }
    const session = await this.#enterSession(received);
    if ('status' in session) return sendError(response, session);
    try {
      const answer = await session.transport.handleRequest(web, parsed);
      const before = request.method === 'GET' && answer.ok ? RETRY : undefined;
      await sendWebResponse(response, answer, { signal, held, before });
    } finally {
      session.leave();
    }
  }

  async #enterSession({ request, body, length, principal, limits }: EndpointRequest) {
    const id = request.headers['mcp-session-id'];
    if (typeof id === 'string') return this.#sessions.enter(id, principal) ?? SESSION_NOT_FOUND;
    if (!isInitializeRequest(body)) return SESSION_REQUIRED;
    if (length > MAX_INITIALIZE_BYTES) return INITIALIZE_TOO_LONG;
    const { name: clientName } = body.params.clientInfo;
    return (await this.#sessions.open(principal, { limits, length, clientName })) ?? TOO_MANY_SESSIONS;
  }

  /** Returns who sends a request that belongs to no session. */
  #statelessPeer({ principal, limits }: EndpointRequest): Peer {
    const { client, roots } = principal ?? this.#anonymous;
    return { client, roots, limits };
  }

  #newSession(owner: Principal | undefined, { limits, clientName }: OpenOptions) {
    const { agentFiles, roots } = this.#service;
    const peer: Peer = { ...(owner ?? sessionPeer(roots)), limits, clientName };
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

/** Takes tokens for the requests of a body that are not calls. Returns how to refuse it if there are not enough. */
function rateRefusal(body: unknown, rate: TokenBucket): HttpError | undefined {
  for (const message of Array.isArray(body) ? body : [body]) {
    const refusal = refuseByRate(message, rate);
    if (refusal === undefined) continue;
    const { id, retryAfterSeconds } = refusal;
    const headers = { 'retry-after': String(Math.ceil(retryAfterSeconds)) };
    return { status: 429, message: refusal.message, id: Array.isArray(body) ? null : id, headers };
  }
  return undefined;
}
