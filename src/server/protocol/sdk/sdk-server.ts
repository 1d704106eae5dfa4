import {
  type ProtocolEra,
  type RequestId,
  Server,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { ExpiringKeys } from '../../asking/expiring-keys.ts';
import { MultiRoundCalls } from '../../asking/multi-round-calls.ts';
import { pushedSample } from '../../asking/sampling.ts';
import { toolCaller } from '../../call/call-tool.ts';
import { InputRequired } from '../../call/input-required.ts';
import { anonymousClient, type Peer } from '../../call/peer.ts';
import { progressReports } from '../../call/progress.ts';
import type { Service } from '../../call/service.ts';
import { describeServer } from '../describe-server.ts';
import { DESCRIPTION_CACHE, type ServerDescription } from '../server-description.ts';
import { RESOURCE_TEMPLATES, Resources } from './resources.ts';

/** Makes the protocol server of one connection, or of one request where connections do not last. */
export type NewServer = (peer: Peer, era: ProtocolEra) => Server;

/** What may be another thing the next moment, and is its client's alone. */
const UNCACHED = { ttlMs: 0, cacheScope: 'private' } as const;

/**
 * A factory of protocol servers for one service. The SDK wants a new one for every connection or request, so all that
 * can be shared is made here, once.
 */
export function mcpServerFactory(service: Service, description = describeServer(service.dialect)): NewServer {
  const { logger } = service;
  const { serverInfo, capabilities, instructions, tools }: ServerDescription = description;
  const call = toolCaller(service);
  const rounds = new MultiRoundCalls();
  /** Calls of clients without identity that may come again with an answer. What they learned is kept so long. */
  const unfinished = new ExpiringKeys((key) => service.agentFiles?.drop(key));
  const options = {
    capabilities,
    instructions,
    cacheHints: {
      'tools/list': DESCRIPTION_CACHE,
      'server/discover': DESCRIPTION_CACHE,
      'resources/templates/list': DESCRIPTION_CACHE,
      'resources/list': UNCACHED,
      'resources/read': UNCACHED,
    },
  };
  return (peer, era) => {
    const server = new Server(serverInfo, options);
    server.onerror = (error) => logger.debug({ problem: error.name }, 'protocol error');
    server.setRequestHandler('tools/list', () => ({ tools }));
    if (capabilities.resources !== undefined) setResourceHandlers(server, new Resources(service, peer));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const { id, signal, notify, _meta } = context.mcpReq;
      const progress = progressReports(_meta?.progressToken, (params) => {
        // A client that went away is noticed by the call's signal, not here.
        notify({ method: 'notifications/progress', params: { ...params } }).catch(() => {});
      });
      const { name, arguments: args = {} } = params;
      const round =
        era === 'modern' ? await rounds.begin({ context, client: peer.client, tool: name, args }) : undefined;
      const client = round?.client ?? peer.client ?? anonymousClient();
      if (client.kind === 'anonymous') unfinished.resume(client.key);
      const request = {
        name,
        args,
        client,
        roots: peer.roots,
        sample: round === undefined ? pushedSample(server.getClientCapabilities()?.sampling, context) : round.sample,
        signal,
        progress,
      };
      try {
        return await call(request);
      } catch (error) {
        if (round === undefined || !(error instanceof InputRequired)) throw error;
        if (client.kind === 'anonymous') unfinished.keep(client.key, error.timeoutMs);
        return await round.result(error);
      } finally {
        // A cancelled call gets no answer, and without one its event stream would stay open.
        if (signal.aborted) endStream(server.transport, id);
      }
    });
    return server;
  };
}

function setResourceHandlers(server: Server, resources: Resources): void {
  server.setRequestHandler('resources/list', ({ params }) => resources.list(params?.cursor));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: RESOURCE_TEMPLATES }));
  server.setRequestHandler('resources/read', ({ params }) => resources.read(params.uri));
}

function endStream(transport: Transport | undefined, id: RequestId): void {
  if (transport instanceof WebStandardStreamableHTTPServerTransport) transport.closeSSEStream(id);
}
