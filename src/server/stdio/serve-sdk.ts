import type { Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Service } from '../call/service.ts';
import type { ToolCaller } from '../call/tool-caller.ts';
import { processPeer } from '../clients/peer.ts';
import { sdkServerFactory } from '../protocol/sdk/sdk-server.ts';

/** Options of `serveSdk`. */
export interface ServeSdkOptions {
  /** By default a caller of its own. */
  readonly caller?: ToolCaller;
  readonly transport: Transport;
  onerror(error: Error): void;
}

/**
 * Starts the SDK on the transport of a stdio connection. Imported on demand: loading the SDK takes long, and many
 * clients never send a message that needs it.
 */
export function serveSdk(service: Service, { caller, transport, onerror }: ServeSdkOptions) {
  const newServer = sdkServerFactory(service, caller);
  const peer = processPeer(service.roots, service.rates);
  return serveStdio(({ era }) => newServer(peer, era), { transport, onerror });
}
