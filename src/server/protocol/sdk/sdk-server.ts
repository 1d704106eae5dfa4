import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type ProtocolEra,
  type RequestId,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { DEFAULT_RESULT_FORM, type ResultForm } from '../../../tools/result-form.ts';
import { type JsonChunks, jsonBytes } from '../../../wire/json-chunks.ts';
import { pushedConfirm } from '../../asking/elicitation.ts';
import { ExpiringKeys } from '../../asking/expiring-keys.ts';
import { MultiRoundCalls } from '../../asking/multi-round-calls.ts';
import { pushedSample } from '../../asking/sampling.ts';
import { InputRequired } from '../../call/input-required.ts';
import { progressReports } from '../../call/running/progress.ts';
import type { Service } from '../../call/service.ts';
import { ToolCaller } from '../../call/tool-caller.ts';
import { anonymousClient, type Peer } from '../../clients/peer.ts';
import { DESCRIPTION_CACHE, toolsFor } from '../../description/server-description.ts';
import { clientNameOf } from '../fast/plain-request.ts';
import { BoundedServer } from './bounded-server.ts';
import { RESOURCE_TEMPLATES, Resources } from './resources.ts';
import { isRootUri, ROOT_TEMPLATES, RootResources } from './root-resources.ts';

/** Makes an SDK server for one connection, or for one request of 2026-07-28 over HTTP. */
export type NewServer = (peer: Peer, era: ProtocolEra) => Server;

/** The cache hint for results that may change at any moment and belong to one client. */
const UNCACHED = { ttlMs: 0, cacheScope: 'private' } as const;

/**
 * Returns a factory of SDK servers for one service. The SDK needs a new server for every connection or request, so
 * everything that these servers can share is made once, here.
 */
export function sdkServerFactory(service: Service, caller = new ToolCaller(service)): NewServer {
  const { logger, description, agentFiles, running, resultForms, connections } = service;
  const { serverInfo, capabilities } = description;
  const rounds = new MultiRoundCalls(service.signingKeys);
  /**
   * Calls of anonymous clients that wait for an answer. The files that such a client handed over are kept for that
   * long.
   */
  const suspended = new ExpiringKeys((key) => agentFiles?.drop(key));
  const cacheHints = {
    'tools/list': DESCRIPTION_CACHE,
    'server/discover': DESCRIPTION_CACHE,
    'resources/templates/list': DESCRIPTION_CACHE,
    'resources/list': UNCACHED,
    'resources/read': UNCACHED,
  };
  return (peer, era) => {
    const { instructions } = description;
    const server = new BoundedServer(serverInfo, { capabilities, instructions, cacheHints });
    // A request of 2026-07-28 has a server of its own, which ends with it.
    if (era === 'legacy') server.onconnected = () => connections?.add({ peer, close: () => server.close() });
    server.onerror = (error) => logger.debug({ problem: error.name }, 'protocol error');
    const nameFor = ({ mcpReq }: ServerContext): string | undefined => {
      const declared: Readonly<Record<string, unknown>> | undefined = mcpReq.envelope;
      return server.getClientVersion()?.name ?? clientNameOf(declared?.[CLIENT_INFO_META_KEY]);
    };
    const formOf = (name: string | undefined): ResultForm => resultForms?.of(name) ?? DEFAULT_RESULT_FORM;
    server.setRequestHandler('tools/list', (_, context) => ({
      tools: toolsFor(description, formOf(nameFor(context))),
    }));
    if (capabilities.resources !== undefined) setResourceHandlers(server, service, peer);
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const { id, signal, notify, _meta } = context.mcpReq;
      const { name, arguments: args = {} } = params;
      const token = _meta?.progressToken;
      const progress =
        token === undefined
          ? undefined
          : progressReports(token, (done) => {
              // A client that is gone aborts the signal, so a failure to notify it needs no handling.
              notify({ method: 'notifications/progress', params: { ...done } }).catch(() => {});
            });
      const round =
        era === 'modern' ? await rounds.begin({ context, client: peer.client, tool: name, args }) : undefined;
      const client = round?.client ?? peer.client ?? anonymousClient();
      if (client.kind === 'anonymous') suspended.cancel(client.key);
      const sample =
        round === undefined ? pushedSample(server.getClientCapabilities()?.sampling, context) : round.sample;
      const confirm =
        round === undefined ? pushedConfirm(server.getClientCapabilities()?.elicitation, context) : round.confirm;
      const call = running.start();
      signal.addEventListener('abort', () => call.cancel(), { once: true });
      if (signal.aborted) call.cancel();
      const clientName = nameFor(context);
      try {
        const request = {
          name,
          args,
          meta: _meta,
          client,
          clientName,
          roots: peer.roots.pinned(),
          sample,
          confirm,
          running: call,
          progress,
          limits: peer.limits,
          results: formOf(clientName),
        };
        return toResult(await caller.call(request));
      } catch (error) {
        if (round === undefined || !(error instanceof InputRequired)) throw error;
        if (client.kind === 'anonymous') suspended.schedule(client.key, error.timeoutMs);
        return await round.result(error);
      } finally {
        // A cancelled call gets no response, and without a response the SDK leaves its event stream open.
        if (signal.aborted) endStream(server.transport, id);
      }
    });
    return server;
  };
}

/** Returns the result of a call as the SDK takes it, from JSON without its closing brace. */
export function toResult(json: JsonChunks): CallToolResult {
  return JSON.parse(`${jsonBytes(json)}}`);
}

/** Serves the files that the client handed over, then those of roots, as far as the dialect has them. */
function setResourceHandlers(server: Server, service: Service, peer: Peer): void {
  const { takesFiles, showsFiles } = service.dialect;
  const handedOver = takesFiles ? new Resources(service, peer) : undefined;
  const inRoots = showsFiles ? new RootResources(service, peer) : undefined;
  const resourceTemplates = [...(showsFiles ? ROOT_TEMPLATES : []), ...(takesFiles ? RESOURCE_TEMPLATES : [])];
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates }));
  // Files that the client handed over to another replica.
  const pull = async (): Promise<void> => service.agentFiles?.pull(peer);
  server.setRequestHandler('resources/list', async ({ params }) => {
    await pull();
    // The cursors of the two lists differ in their first character.
    const cursor = params?.cursor?.slice(1);
    const first = params?.cursor?.startsWith(ROOTS_CURSOR) ? undefined : handedOver?.list(cursor);
    if (first?.nextCursor !== undefined) return { ...first, nextCursor: HANDED_OVER_CURSOR + first.nextCursor };
    const rest = inRoots?.list(first === undefined ? cursor : undefined);
    return {
      resources: [...(first?.resources ?? []), ...(rest?.resources ?? [])],
      ...(rest?.nextCursor !== undefined && { nextCursor: ROOTS_CURSOR + rest.nextCursor }),
    };
  });
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    await pull();
    if (inRoots !== undefined && isRootUri(uri)) return inRoots.read(uri);
    if (handedOver === undefined) throw new ResourceNotFoundError(uri);
    return handedOver.read(uri);
  });
  if (inRoots !== undefined) server.setRequestHandler('completion/complete', ({ params }) => inRoots.complete(params));
}

const HANDED_OVER_CURSOR = 'a';
const ROOTS_CURSOR = 'r';

function endStream(transport: Transport | undefined, id: RequestId): void {
  if (transport instanceof WebStandardStreamableHTTPServerTransport) transport.closeSSEStream(id);
}
