import {
  type RequestId,
  Server,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { packageVersion } from '../config/index.ts';
import { toolCaller } from './call.ts';
import { anonymousClient, type Peer } from './peer.ts';
import { progressOf } from './progress.ts';
import type { Service } from './service.ts';
import { describeTools } from './tool-list.ts';

/** How long a client may keep the list of tools, which changes only with a new version of the server. */
const LIST_TTL_MS = 300_000;

/** Makes the protocol server of one connection, or of one request where connections do not last. */
export type NewServer = (peer: Peer) => Server;

/**
 * A factory of protocol servers for one service. The SDK wants a new one for every connection or request, so all that
 * can be shared is made here, once.
 */
export function mcpServerFactory(service: Service): NewServer {
  const { dialect, logger } = service;
  const info = { name: dialect.serverName, version: dialect.serverVersion ?? packageVersion() };
  const tools = describeTools(dialect);
  const call = toolCaller(service);
  const cache = { ttlMs: LIST_TTL_MS, cacheScope: 'private' as const };
  const options = {
    capabilities: { tools: {} },
    instructions: dialect.instructions,
    cacheHints: { 'tools/list': cache, 'server/discover': cache },
  };
  return ({ client, roots }) => {
    const server = new Server(info, options);
    server.onerror = (error) => logger.debug({ problem: error.name }, 'protocol error');
    server.setRequestHandler('tools/list', () => ({ tools }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const { id, signal } = context.mcpReq;
      try {
        return await call({
          name: params.name,
          args: params.arguments ?? {},
          client: client ?? anonymousClient(),
          roots,
          sample: undefined,
          signal,
          progress: progressOf(context),
        });
      } finally {
        // A cancelled call gets no answer, and without one its event stream would stay open.
        if (signal.aborted) endStream(server.transport, id);
      }
    });
    return server;
  };
}

function endStream(transport: Transport | undefined, id: RequestId): void {
  if (transport instanceof WebStandardStreamableHTTPServerTransport) transport.closeSSEStream(id);
}
