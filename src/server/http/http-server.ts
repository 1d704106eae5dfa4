import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeThrown } from '../../audit/describe-thrown.ts';
import { DEFAULTS } from '../../config/defaults.ts';
import { atMost } from '../../runtime/at-most.ts';
import { InFlight } from '../call/in-flight.ts';
import type { Service } from '../call/service.ts';
import type { NewServer } from '../protocol/sdk/sdk-server.ts';
import { authenticate, foreignOriginProblem, isLoopbackAddress } from './access-control.ts';
import { Connections } from './connections.ts';
import { HttpLimits } from './http-limits.ts';
import { McpEndpoint } from './mcp-endpoint.ts';
import { ReplayBudget } from './replay-buffer.ts';
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
const KEEP_ALIVE_MS = 65_000;
/** How long the last responses may take to be written after all calls have ended. */
const LAST_RESPONSES_MS = 1_000;

/** Options of `startHttp`. */
export interface HttpOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly sessions?: SessionLimits;
  /** The memory in bytes that requests may take in all; by default 512 MiB. */
  readonly memory?: number;
  /** By default as many as leave enough descriptors for files, and 4096 at most. */
  readonly maxConnections?: number;
  /** Whether the fast path answers plain requests; by default true. Without it the SDK answers every request. */
  readonly fastPath?: boolean;
  /** Makes the SDK servers instead of those of the mounts' services. @internal */
  readonly newServer?: NewServer;
}

/** A server that is running on HTTP. */
export interface RunningHttpServer {
  readonly host: string;
  readonly port: number;
  /** The URL for clients on this machine, without the path of a mount. */
  readonly base: string;
  /** Stops accepting requests, waits for running calls, at most `graceMs`, then cancels the rest and closes. */
  close(graceMs: number): Promise<void>;
}

/** A service and the path at which it is served. */
export interface Mount {
  readonly path: string;
  readonly service: Service;
}

/**
 * Serves MCP at the path of each mount, and `ok` at `/health`. All mounts must share their principals, running calls,
 * scheduler and logger, as services of one `SharedService` do. Rejects with a system error if it cannot listen at that
 * address.
 */
export async function startHttp(
  mounts: readonly [Mount, ...Mount[]],
  options: HttpOptions,
): Promise<RunningHttpServer> {
  const [{ service }] = mounts;
  const { principals } = service;
  const { fastPath = true, memory = DEFAULTS.memory, maxConnections, newServer } = options;
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
  let closing = false;

  const route = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.split('?', 1)[0];
    if (path === '/health') return health(request, response);
    const foreign = foreignOriginProblem(request, loopbackOnly);
    if (foreign !== undefined) {
      service.logger.warn({ origin: request.headers.origin, host: request.headers.host }, 'foreign request refused');
      return sendError(response, { status: 403, message: `Forbidden: ${foreign}` });
    }
    const principal = principals && authenticate(request, principals);
    if (principal !== undefined && 'status' in principal) {
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
    if (closing) response.setHeader('connection', 'close');
    const handled = route(request, response).catch((error: unknown) => {
      service.logger.error({ error: describeThrown(error) }, 'internal error');
      if (!response.headersSent) sendError(response, { status: 500, code: -32603, message: 'Internal error' });
      else response.destroy();
    });
    if (request.method !== 'POST') return;
    posts.add(handled);
    void handled.then(() => posts.delete(handled));
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
  server.listen(options.port, options.host.replace(/^\[(.*)\]$/, '$1'));
  await once(server, 'listening');
  // For example EMFILE. That connection is lost, but open ones are not affected.
  server.on('error', (error) => service.logger.warn({ error: describeThrown(error) }, 'connection not accepted'));

  const { port } = server.address() as AddressInfo;
  return {
    host: options.host,
    port,
    base: `http://${urlHost(options.host)}:${port}`,
    close: async (graceMs) => {
      closing = true;
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      await service.running.drain(graceMs);
      await atMost(LAST_RESPONSES_MS, Promise.all(posts.all()));
      await Promise.all([...endpoints.values()].map((endpoint) => endpoint.close()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function health({ method }: IncomingMessage, response: ServerResponse): void {
  if (method !== 'GET' && method !== 'HEAD') {
    sendError(response, { status: 405, message: 'Method not allowed', headers: { allow: 'GET, HEAD' } });
    return;
  }
  response
    .writeHead(200, { 'content-type': 'text/plain', 'content-length': 2 })
    .end(method === 'HEAD' ? undefined : 'ok');
}

/** Returns the host for the URL of this server: loopback for an address that means all interfaces. */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::' || host === '[::]') return '127.0.0.1';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
