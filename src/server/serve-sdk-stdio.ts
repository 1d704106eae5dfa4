import type { Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Introduction } from './introduction.ts';
import { mcpServerFactory } from './mcp-server.ts';
import { processPeer } from './peer.ts';
import type { Service } from './service.ts';

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
