import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describeThrown } from '../../audit/describe-thrown.ts';
import { DEFAULTS } from '../../config/defaults.ts';
import { atMost } from '../../runtime/at-most.ts';
import { InFlight } from '../call/running/in-flight.ts';
import type { Service } from '../call/service.ts';
import type { Peer } from '../clients/peer.ts';
import type { NewServer } from '../protocol/sdk/sdk-server.ts';
import { authenticate, foreignOriginProblem, isLoopbackAddress } from './access-control.ts';
import { Connections } from './connections.ts';
import { answerHealth, answerReady } from './health.ts';
import { HttpLimits, SHARE_TAKEN } from './http-limits.ts';
import { McpEndpoint } from './mcp-endpoint.ts';
import { ReplayBudget } from './replay-buffer.ts';
import { type Route, routeOf } from './route.ts';
import { sendError } from './sdk-response.ts';
import { SESSION_LIMITS, type SessionLimits } from './sessions.ts';
import { answerWithinLimits } from './within-limits.ts';

/**
 * How long a client may take to send the headers, against clients that hold connections by sending slowly (Slowloris).
 */
const HEADERS_MS = 20_000;
/** How long a client may take to send a whole request, for the same reason. */
const REQUEST_MS = 60_000;
/** How often Node looks for connections that are over one of these two. */
const CHECK_MS = 5_000;
/** How long an idle connection stays open: longer than the 60 seconds after which common proxies close theirs. */
export const KEEP_ALIVE_MS = 65_000;
/** How often a server that leaves ends the event streams that have begun meanwhile. */
const END_STREAMS_MS = 500;
/** How long the last responses may take to be written after all calls have ended. */
const LAST_RESPONSES_MS = 1_000;

/** Options of `startHttp`. */
export interface HttpOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Whether another process listens there and hands over its connections, for `accept`; by default false. @internal */
  readonly handedOver?: boolean | undefined;
  readonly sessions?: SessionLimits;
  /** The memory in bytes that requests may take in all; by default 512 MiB. */
  readonly memory?: number;
  /** By default as many as leave enough descriptors for files, and 4096 at most. */
  readonly maxConnections?: number;
  /** Whether the fast path answers plain requests; by default true. Without it the SDK answers every request. */
  readonly fastPath?: boolean;
  /** What else is served; by default nothing. @internal */
  readonly routes?: readonly Route[] | undefined;
  /**
   * Names what the server goes on without, for `/ready`; by default what the replicas have in common, while it is
   * unavailable.
   */
  readonly missing?: (() => readonly string[]) | undefined;
  /** Makes the SDK servers instead of those of the mounts' services. @internal */
  readonly newServer?: NewServer;
}

/** A server that is running on HTTP. */
export interface RunningHttpServer {
  readonly host: string;
  readonly port: number;
  /** The URL for clients on this machine, without the path of a mount. */
  readonly base: string;
  /** Serves a connection that was accepted elsewhere. @internal */
  accept(socket: Socket): void;
  /**
   * Answers on, but is not ready any more: closes each connection after its next answer, and event streams now, so that
   * clients connect again elsewhere. Resolves once there are no connections. @internal
   */
  retire(): Promise<void>;
  /** Returns the clients of all sessions, each as often as it has one. @internal */
  peers(): Peer[];
  /** What clients take of the server at this moment. @internal */
  figures(): HttpFigures;
  /** Stops accepting requests, waits for running calls, at most `graceMs`, then cancels the rest and closes. */
  close(graceMs: number): Promise<void>;
}

/** What the clients of a server take of it. */
export interface HttpFigures {
  readonly connections: number;
  /** Requests that are being answered, with those whose event streams are open. */
  readonly requests: number;
  /** The memory in bytes that bodies and unread answers take. */
  readonly heldBytes: number;
  /** The number of sessions, by dialect. */
  readonly sessions: ReadonlyMap<string, number>;
  /** How many requests were refused so far because of their origin or their token. */
  readonly refused: { readonly origin: number; readonly token: number };
}

/** A service and the path at which it is served. */
export interface Mount {
  readonly path: string;
  readonly service: Service;
}

/**
 * Serves MCP at the path of each mount, what the routes serve at theirs, `ok` at `/health`, and at `/ready` whether the
 * server takes requests. All mounts must share their principals, running calls, scheduler and logger, as services of
 * one `SharedService` do. Rejects with a system error if it cannot listen at that address.
 */
export async function startHttp(
  mounts: readonly [Mount, ...Mount[]],
  options: HttpOptions,
): Promise<RunningHttpServer> {
  const [{ service }] = mounts;
  const { principals } = service;
  const { fastPath = true, memory = DEFAULTS.memory, maxConnections, newServer } = options;
  const { routes = [], missing = () => service.store?.missing() ?? [] } = options;
  const limits = new HttpLimits({ memory, maxConnections, principals, rates: service.rates });
  const sessions: SessionLimits = { clients: limits.clients, ...(options.sessions ?? SESSION_LIMITS) };
  const connections = new Connections(limits);
  const replayBudget = new ReplayBudget();
  const endpoints = new Map(
    mounts.map((mount) => [
      mount.path,
      new McpEndpoint(mount.service, { sessions, fastPath, replayBudget, newServer }),
    ]),
  );
  const loopbackOnly = isLoopbackAddress(options.host);
  const posts = new InFlight<Promise<void>>();
  /** The other responses that are not sent yet: each may be, or become, an event stream that only its client ends. */
  const others = new Set<ServerResponse>();
  const refused = { origin: 0, token: 0 };
  let closing = false;
  let leaving = false;

  const route = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.split('?', 1)[0];
    if (path === '/health') return answerHealth(request, response);
    if (path === '/ready') return answerReady(request, response, { ready: !leaving, missing: missing() });
    const other = routes.length === 0 ? undefined : routeOf(routes, path ?? '');
    if (other !== undefined) {
      const client = limits.unknownClient(request.socket.remoteAddress);
      if (!limits.requests.tryTake(client)) return sendError(response, SHARE_TAKEN);
      response.once('close', () => limits.requests.give(client));
      return other.handle(request, response);
    }
    const foreign = foreignOriginProblem(request, loopbackOnly);
    if (foreign !== undefined) {
      refused.origin += 1;
      service.logger.warn({ origin: request.headers.origin, host: request.headers.host }, 'foreign request refused');
      return sendError(response, { status: 403, message: `Forbidden: ${foreign}` });
    }
    const principal = principals && authenticate(request, principals);
    if (principal !== undefined && 'status' in principal) {
      refused.token += 1;
      service.logger.warn({ address: request.socket.remoteAddress, problem: principal.message }, 'request refused');
      return sendError(response, principal);
    }
    const endpoint = endpoints.get(path ?? '');
    if (endpoint === undefined) {
      // Only whoever has a token, or needs none, gets here and learns what is served.
      const known = principals === undefined ? `: MCP is served at ${[...endpoints.keys()].join(', ')}` : '';
      return sendError(response, { status: 404, message: `Not found${known}` });
    }
    if (closing) return sendError(response, { status: 503, message: 'The server is shutting down' });
    await answerWithinLimits({ request, response, principal }, { limits, connections }, (client) =>
      endpoint.handle(request, response, client),
    );
  };

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (leaving) response.setHeader('connection', 'close');
    const handled = route(request, response).catch((error: unknown) => {
      service.logger.error({ error: describeThrown(error) }, 'internal error');
      if (!response.headersSent) sendError(response, { status: 500, code: -32603, message: 'Internal error' });
      else response.destroy();
    });
    if (request.method !== 'POST') {
      others.add(response);
      response.once('close', () => others.delete(response));
      return;
    }
    posts.add(handled);
    void handled.then(() => posts.delete(handled));
  };

  const endStreams = (): void => {
    // Only event streams have sent their headers without their end. The rest is being prepared.
    for (const other of others) if (other.headersSent) other.end();
  };

  const server = http.createServer(
    {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: CHECK_MS,
    },
    (request, response) => connections.inTurn(request, response, () => answer(request, response)),
  );
  server.on('connection', (socket) => {
    connections.add(socket);
    // Node accepts one connection per turn of the event loop, and more may be waiting.
    service.scheduler.shortenNextTurn();
  });
  if (options.handedOver) {
    // With this event Node begins to look for connections that are too slow.
    server.emit('listening');
  } else {
    server.listen(options.port, options.host.replace(/^\[(.*)\]$/, '$1'));
    await once(server, 'listening');
  }
  // For example EMFILE. That connection is lost, but open ones are not affected.
  server.on('error', (error) => service.logger.warn({ error: describeThrown(error) }, 'connection not accepted'));

  const { port } = (server.address() as AddressInfo | null) ?? options;
  return {
    host: options.host,
    port,
    base: `http://${urlHost(options.host)}:${port}`,
    accept: (socket) => {
      socket.setNoDelay(true);
      server.emit('connection', socket);
    },
    retire: async () => {
      leaving = true;
      endStreams();
      const timer = setInterval(endStreams, END_STREAMS_MS).unref();
      await connections.allClosed();
      clearInterval(timer);
      // A client that lost its connection may wait for the result of its call elsewhere.
      await service.running.presentEnded();
    },
    peers: () => [...endpoints.values()].flatMap((endpoint) => endpoint.peers()),
    figures: () => ({
      connections: connections.size,
      requests: limits.requests.total,
      heldBytes: limits.heldBytes,
      sessions: new Map(mounts.map((mount) => [mount.service.dialect.name, endpoints.get(mount.path)?.sessions ?? 0])),
      refused,
    }),
    close: async (graceMs) => {
      closing = true;
      leaving = true;
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      for (const other of routes) other.close?.();
      await service.running.drain(graceMs);
      await atMost(LAST_RESPONSES_MS, Promise.all(posts.all()));
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.close()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Returns the host for the URL of this server: loopback for an address that means all interfaces. */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::' || host === '[::]') return '127.0.0.1';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
