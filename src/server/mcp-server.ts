import {
  type ProtocolEra,
  type RequestId,
  Server,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { toolCaller } from './call.ts';
import { InputNeeded } from './input-needed.ts';
import { INTRODUCTION_CACHE, type Introduction, introduce } from './introduction.ts';
import { anonymousClient, type Peer } from './peer.ts';
import { progressReports } from './progress.ts';
import { Rounds } from './rounds.ts';
import { pushedSample } from './sampling.ts';
import type { Service } from './service.ts';

/** Makes the protocol server of one connection, or of one request where connections do not last. */
export type NewServer = (peer: Peer, era: ProtocolEra) => Server;

/** How often a run is begun anew because what it waited for turned out to be another call's question. */
const MAX_RUNS = 3;

/**
 * A factory of protocol servers for one service. The SDK wants a new one for every connection or request, so all that
 * can be shared is made here, once.
 */
export function mcpServerFactory(service: Service, introduction = introduce(service.dialect)): NewServer {
  const { logger } = service;
  const { serverInfo, capabilities, instructions, tools }: Introduction = introduction;
  const call = toolCaller(service);
  const rounds = new Rounds();
  const options = {
    capabilities,
    instructions,
    cacheHints: { 'tools/list': INTRODUCTION_CACHE, 'server/discover': INTRODUCTION_CACHE },
  };
  return (peer, era) => {
    const server = new Server(serverInfo, options);
    server.onerror = (error) => logger.debug({ problem: error.name }, 'protocol error');
    server.setRequestHandler('tools/list', () => ({ tools }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const { id, signal, notify, _meta } = context.mcpReq;
      const progress = progressReports(_meta?.progressToken, (params) => {
        // A client that went away is noticed by the call's signal, not here.
        notify({ method: 'notifications/progress', params: { ...params } }).catch(() => {});
      });
      const { name, arguments: args = {} } = params;
      const round =
        era === 'modern' ? await rounds.begin({ context, client: peer.client, tool: name, args }) : undefined;
      const request = {
        name,
        args,
        client: round?.client ?? peer.client ?? anonymousClient(),
        roots: peer.roots,
        sample: round === undefined ? pushedSample(server.getClientCapabilities()?.sampling, context) : round.sample,
        signal,
        progress,
      };
      try {
        for (let run = 1; ; run += 1) {
          try {
            return await call(request);
          } catch (error) {
            if (!(error instanceof InputNeeded)) throw error;
            if (round !== undefined && (error.round === round || run === MAX_RUNS)) return await round.result(error);
            if (run === MAX_RUNS) throw error;
          }
        }
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
