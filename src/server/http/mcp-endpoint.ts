import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpHttpHandler,
} from '@modelcontextprotocol/server';
import { type Peer, sessionPeer } from '../call/peer.ts';
import type { Principal } from '../call/principals.ts';
import type { Service } from '../call/service.ts';
import { describeServer } from '../protocol/describe-server.ts';
import { FastPath } from '../protocol/fast/fast-path.ts';
import { fastTools } from '../protocol/fast/lane-tools.ts';
import { plainRequest } from '../protocol/fast/plain-request.ts';
import { mcpServerFactory } from '../protocol/sdk/sdk-server.ts';
import { ClientDisconnect } from './client-disconnect.ts';
import { cancelCall, HttpFastPath } from './http-fast-path.ts';
import { type SessionLimits, Sessions } from './sessions.ts';
import { BadBody, type HttpError, readJson, sendError, sendWebResponse, toWebRequest } from './web.ts';

const MAX_BODY_BYTES = 10 * 1024 * 1024;

export interface McpEndpoint {
  /** Answers a request of a principal, or of anyone where there are none. */
  handle(request: IncomingMessage, response: ServerResponse, principal?: Principal): Promise<void>;
  close(): Promise<void>;
}

export interface EndpointOptions {
  readonly sessions: SessionLimits;
  /** Whether plain requests are answered without the SDK. */
  readonly fastPath: boolean;
}

interface EndpointRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly disconnect: ClientDisconnect;
  /** Parsed; undefined if there is none. */
  readonly body: unknown;
  readonly principal: Principal | undefined;
}

/** Streamable HTTP for both eras: 2026-07-28 clients without state, older ones in sessions. */
export function mcpEndpoint(
  service: Service,
  { sessions: limits, fastPath: usesFastPath }: EndpointOptions,
): McpEndpoint {
  const description = describeServer(service.dialect);
  const newServer = mcpServerFactory(service, description);
  const tools = fastTools(service);
  const fastPath = new HttpFastPath(new FastPath(description, async () => tools));
  const sessions = new Sessions((owner) => {
    const peer = owner ?? sessionPeer(service.roots);
    const server = newServer(peer, 'legacy');
    // What belongs to a principal does not end with one of its sessions.
    if (peer.client?.kind === 'session') server.onclose = () => service.agentFiles?.drop(peer.client?.key ?? '');
    return { server, peer };
  }, limits);
  const onerror = (error: Error): void => service.logger.debug({ problem: error.name }, 'protocol error');
  const handler = (peer: Peer): McpHttpHandler =>
    createMcpHandler(() => newServer(peer, 'modern'), { legacy: 'reject', onerror });
  const nobody: Peer = { client: undefined, roots: service.roots };
  const anyone = handler(nobody);
  /** One for each principal, so that none shares even the SDK's state with another. Bounded by the config. */
  const modern = new Map<Principal, McpHttpHandler>();
  const modernOf = (principal: Principal | undefined): McpHttpHandler => {
    if (principal === undefined) return anyone;
    const found = modern.get(principal) ?? handler(principal);
    modern.set(principal, found);
    return found;
  };

  const handle: McpEndpoint['handle'] = async (request, response, principal) => {
    if (principal !== undefined && service.boundRoot !== undefined && !principal.roots.has(service.boundRoot)) {
      return sendError(response, NOT_FOR_THIS_TOKEN);
    }
    if (request.method !== 'POST' && request.method !== 'GET' && request.method !== 'DELETE') {
      return sendError(response, { ...METHOD_NOT_ALLOWED, headers: { allow: 'GET, POST, DELETE' } });
    }
    const disconnect = new ClientDisconnect(response);
    const body = await bodyOf(request, response);
    if (body === REFUSED) return;
    await service.scheduler.admit();
    const exchange: EndpointRequest = { request, response, disconnect, body, principal };
    if (usesFastPath && (await answeredByFastPath(exchange))) return;
    await answerBySdk(exchange);
  };

  const answeredByFastPath = async (exchange: EndpointRequest): Promise<boolean> => {
    const { request, response, disconnect, body, principal } = exchange;
    const plain = plainRequest(body);
    if (plain?.modern) return fastPath.modern({ request, response, plain }, { peer: principal ?? nobody, disconnect });
    const { 'mcp-session-id': id } = request.headers;
    const session = typeof id === 'string' ? sessions.enter(id, principal) : undefined;
    if (session === undefined) return false;
    try {
      if (plain !== undefined) return await fastPath.inSession({ request, response, plain }, session);
      // The SDK hears of it too: it may be about a call of its own.
      cancelCall(session, body);
      return false;
    } finally {
      session.leave();
    }
  };

  const answerBySdk = async ({ request, response, disconnect, body, principal }: EndpointRequest): Promise<void> => {
    const { signal } = disconnect;
    const web = toWebRequest(request, signal);
    const parsed = body === undefined ? {} : { parsedBody: body };
    if (!(await isLegacyRequest(web, body))) {
      return sendWebResponse(response, await modernOf(principal).fetch(web, parsed), signal);
    }
    const session = await enterSession(request, body, principal);
    if ('status' in session) return sendError(response, session);
    try {
      await sendWebResponse(response, await session.transport.handleRequest(web, parsed), signal);
    } finally {
      session.leave();
    }
  };

  const enterSession = async (request: IncomingMessage, body: unknown, principal: Principal | undefined) => {
    const id = request.headers['mcp-session-id'];
    if (typeof id === 'string') return sessions.enter(id, principal) ?? SESSION_NOT_FOUND;
    if (!isInitializeRequest(body)) return SESSION_REQUIRED;
    return (await sessions.open(principal)) ?? TOO_MANY_SESSIONS;
  };

  return {
    handle,
    close: async () => {
      await sessions.close();
      await Promise.all([anyone, ...modern.values()].map((each) => each.close()));
    },
  };
}

const NOT_FOR_THIS_TOKEN: HttpError = { status: 403, message: 'Forbidden: this token may not be used here' };
const METHOD_NOT_ALLOWED: HttpError = { status: 405, message: 'Method not allowed' };
const SESSION_REQUIRED: HttpError = { status: 400, message: 'Bad Request: the Mcp-Session-Id header is required' };
const SESSION_NOT_FOUND: HttpError = { status: 404, code: -32001, message: 'Session not found' };
const TOO_MANY_SESSIONS: HttpError = {
  status: 503,
  message: 'Too many sessions in use; try again later',
  headers: { 'retry-after': '30' },
};
const REFUSED = Symbol('refused');

/** The parsed body of a POST; REFUSED if it was answered already because it cannot be used. */
async function bodyOf(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  if (request.method !== 'POST') return undefined;
  try {
    return await readJson(request, MAX_BODY_BYTES);
  } catch (error) {
    if (!(error instanceof BadBody)) {
      // The client broke off while sending.
      response.destroy();
      return REFUSED;
    }
    const { status, message } = error;
    // The rest of the body has to be taken, or nothing more would be heard on this connection.
    request.resume();
    sendError(response, { status, code: status === 400 ? -32700 : -32000, message });
    return REFUSED;
  }
}
