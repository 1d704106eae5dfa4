import type { Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { processPeer } from '../call/peer.ts';
import type { Service } from '../call/service.ts';
import { mcpServerFactory } from '../protocol/sdk/sdk-server.ts';
import type { ServerDescription } from '../protocol/server-description.ts';

export interface ServeSdkOptions {
  readonly description: ServerDescription;
  readonly transport: Transport;
  onerror(error: Error): void;
}

/** Has the SDK serve one client. In a module of its own, since loading the SDK takes long and many clients never need it. */
export function serveSdk(service: Service, { description, transport, onerror }: ServeSdkOptions) {
  const newServer = mcpServerFactory(service, description);
  const peer = processPeer(service.roots);
  return serveStdio(({ era }) => newServer(peer, era), { transport, onerror });
}
