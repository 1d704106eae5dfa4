import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeThrown } from '../../audit/describe-thrown.ts';
import { InFlight } from '../call/in-flight.ts';
import type { Service } from '../call/service.ts';
import { authenticate, foreignCaller, isLoopbackAddress } from './access-control.ts';
import { McpEndpoint } from './mcp-endpoint.ts';
import { SESSION_LIMITS, type SessionLimits } from './sessions.ts';
import { sendError } from './web.ts';

/** Time for a client to send its headers, then its whole request: a slow sender holds a connection no longer. */
const HEADERS_MS = 20_000;
const REQUEST_MS = 60_000;
const KEEP_ALIVE_MS = 65_000;
/** Time to hand out the last answers after the calls themselves are over. */
const LAST_ANSWERS_MS = 1_000;

export interface HttpOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly sessions?: SessionLimits;
  /** False to have the SDK answer everything. */
  readonly fastPath?: boolean;
}

export interface HttpServing {
  readonly host: string;
  readonly port: number;
  /** Where a client on this machine connects; the paths of the mounts come after it. */
  readonly base: string;
  /** Stops accepting, lets running calls finish for so long, then cancels what is left and closes. */
  close(graceMs: number): Promise<void>;
}

/** A service, and the path at which its dialect is spoken. */
export interface Mount {
  readonly path: string;
  readonly service: Service;
}

/**
 * Serves the protocol at the path of each mount and `ok` at `/health`. The mounts share their principals, running calls
 * and log.
 * Rejects with a system error if it cannot listen there.
 */
export async function startHttp(mounts: readonly [Mount, ...Mount[]], options: HttpOptions): Promise<HttpServing> {
  const [{ service }] = mounts;
  const { principals } = service;
  const { sessions = SESSION_LIMITS, fastPath = true } = options;
  const endpoints = new Map(
    mounts.map((mount) => [mount.path, new McpEndpoint(mount.service, { sessions, fastPath })]),
  );
  const loopbackOnly = isLoopbackAddress(options.host);
  const posts = new InFlight<Promise<void>>();
  let closing = false;

  const route = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.split('?', 1)[0];
    if (path === '/health') return health(request, response);
    const endpoint = endpoints.get(path ?? '');
    if (endpoint === undefined) {
      // What is served is nobody's business who has shown no token.
      const known = principals === undefined ? `: MCP is served at ${[...endpoints.keys()].join(', ')}` : '';
      return sendError(response, { status: 404, message: `Not found${known}` });
    }
    const foreign = foreignCaller(request, loopbackOnly);
    if (foreign !== undefined) {
      service.logger.warn({ origin: request.headers.origin, host: request.headers.host }, 'foreign request refused');
      return sendError(response, { status: 403, message: `Forbidden: ${foreign}` });
    }
    const principal = principals && authenticate(request, principals);
    if (principal !== undefined && 'status' in principal) {
      service.logger.warn({ address: request.socket.remoteAddress, problem: principal.message }, 'request refused');
      return sendError(response, principal);
    }
    if (closing) return sendError(response, { status: 503, message: 'The server is shutting down' });
    await endpoint.handle(request, response, principal);
  };

  const server = http.createServer(
    { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    (request, response) => {
      if (closing) response.setHeader('connection', 'close');
      const handled = route(request, response).catch((error: unknown) => {
        service.logger.error({ error: describeThrown(error) }, 'internal error');
        if (!response.headersSent) sendError(response, { status: 500, code: -32603, message: 'Internal error' });
        else response.destroy();
      });
      if (request.method !== 'POST') return;
      posts.add(handled);
      void handled.then(() => posts.delete(handled));
    },
  );
  server.listen(options.port, options.host.replace(/^\[(.*)\]$/, '$1'));
  await once(server, 'listening');
  // In a turn of the event loop one connection is accepted, and more may be waiting.
  server.on('connection', () => service.scheduler.shortenNextTurn());
  // Such as EMFILE: the connection is lost, those that are open are not.
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
      await Promise.race([Promise.all(posts.all()), delay(LAST_ANSWERS_MS)]);
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

/** An address that stands for all of a machine's is reached by loopback from the machine itself. */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::' || host === '[::]') return '127.0.0.1';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
