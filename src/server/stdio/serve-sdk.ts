import type { Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { processPeer } from '../call/peer.ts';
import type { Service } from '../call/service.ts';
import { mcpServerFactory } from '../protocol/sdk/sdk-server.ts';
import type { Introduction } from '../protocol/server-description.ts';

export interface SdkStdioParts {
  readonly introduction: Introduction;
  readonly transport: Transport;
  onerror(error: Error): void;
}

/** Has the SDK serve one client. In a module of its own, since loading the SDK takes long and many clients never need it. */
export function serveSdkStdio(service: Service, { introduction, transport, onerror }: SdkStdioParts) {
  const newServer = mcpServerFactory(service, introduction);
  const peer = processPeer(service.roots);
  return serveStdio(({ era }) => newServer(peer, era), { transport, onerror });
}
