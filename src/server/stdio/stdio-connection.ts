import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { InFlight } from '../call/in-flight.ts';
import type { Peer } from '../call/peer.ts';
import { type FastCall, type FastCaller, type FastPath, NEEDS_SDK } from '../protocol/fast/fast-path.ts';
import {
  type Fields,
  hasOnly,
  isClientInfo,
  type PlainRequest,
  plainCapabilities,
  plainRequest,
} from '../protocol/fast/plain-request.ts';
import { type MessageSink, SdkTransport, type ServeSdk } from './sdk-transport.ts';

const INITIALIZE_KEYS: ReadonlySet<string> = new Set(['protocolVersion', 'capabilities', 'clientInfo', '_meta']);

export interface StdioConnectionOptions {
  readonly fastPath: FastPath;
  readonly peer: Peer;
  readonly sink: MessageSink;
  readonly serveSdk: ServeSdk;
}

/**
 * Decides who answers the messages of the client on stdio. Plain requests take the fast path, from the handshake on; the rest
 * goes to the SDK, which is started when the first such message comes. The handshake is then replayed to it, as if it had been
 * there from the beginning.
 */
export class StdioConnection {
  readonly #fastPath: FastPath;
  readonly #caller: FastCaller;
  readonly #sink: MessageSink;
  readonly #serveSdk: ServeSdk;
  /** Decided by the first request; undefined also while the SDK handles that request. */
  #era: 'legacy' | 'modern' | undefined;
  /** The handshake, which the SDK has to handle before anything else. */
  #handshake: JSONRPCMessage[] = [];
  #sdk: SdkTransport | undefined;
  readonly #calls = new InFlight<FastCall>();

  constructor({ fastPath, peer, sink, serveSdk }: StdioConnectionOptions) {
    this.#fastPath = fastPath;
    this.#caller = { peer, notify: (json) => sink.post(json) };
    this.#sink = sink;
    this.#serveSdk = serveSdk;
  }

  receive(message: JSONRPCMessage): void {
    const request = plainRequest(message);
    const isHandled = request === undefined ? this.#handleNotice(message) : this.#handleRequest(request, message);
    if (!isHandled) this.#passToSdk(message);
  }

  async close(): Promise<void> {
    await this.#sdk?.end();
    await this.#sink.close();
  }

  /** Returns whether the fast path handles a request. */
  #handleRequest(request: PlainRequest, message: JSONRPCMessage): boolean {
    if (this.#era === undefined) return this.#sdk === undefined && this.#handleFirst(request, message);
    return request.modern === (this.#era === 'modern') && this.#answer(request, message);
  }

  /** Handles `initialize`, or the first request of 2026-07-28. `server/discover` does not decide the era yet. */
  #handleFirst(request: PlainRequest, message: JSONRPCMessage): boolean {
    const { id, method, params, modern } = request;
    if (modern) {
      if (!this.#answer(request, message)) return false;
      if (method === 'server/discover') return true;
      this.#era = 'modern';
      // Any request without an effect shows the SDK what the client speaks.
      this.#handshake = [
        { jsonrpc: '2.0', id, method: 'tools/list', params: { _meta: params._meta as Record<string, unknown> } },
      ];
      return true;
    }
    const version = method === 'initialize' ? wantedVersion(params) : undefined;
    if (version === undefined) return false;
    this.#era = 'legacy';
    this.#handshake = [message];
    this.#sink.post(this.#fastPath.initialize(id, version));
    return true;
  }

  #answer(request: PlainRequest, message: JSONRPCMessage): boolean {
    const reply = this.#fastPath.reply(request);
    if (reply !== undefined) {
      this.#sink.post(reply);
      return true;
    }
    const call = this.#fastPath.call(request, this.#caller);
    if (call === undefined) return false;
    this.#calls.add(call);
    void call.response.then((response) => {
      this.#calls.delete(call);
      if (response === NEEDS_SDK) this.#passToSdk(message);
      else if (response !== undefined) this.#sink.post(response);
    });
    return true;
  }

  /** Returns whether a message that is not a request needs nothing from the SDK. */
  #handleNotice(message: JSONRPCMessage): boolean {
    if (this.#era === undefined || !('method' in message) || 'id' in message) return false;
    if (message.method === 'notifications/cancelled') {
      const requestId = message.params?.requestId;
      const call = this.#calls.find(({ id }) => id === requestId);
      call?.cancel();
      return call !== undefined || this.#sdk === undefined;
    }
    if (message.method !== 'notifications/initialized' || this.#era === 'modern' || this.#sdk !== undefined)
      return false;
    this.#handshake.push(message);
    return true;
  }

  #passToSdk(message: JSONRPCMessage): void {
    this.#sdk ??= this.#startSdk();
    this.#sdk.receive(message);
  }

  #startSdk(): SdkTransport {
    const sdk = new SdkTransport(this.#sink, this.#serveSdk);
    const [opening, ...more] = this.#handshake;
    if (opening !== undefined) sdk.replay(opening);
    for (const message of more) sdk.receive(message);
    // If the SDK handles the handshake, the fast path is open once the SDK has answered it.
    sdk.onInitialized = () => {
      this.#era ??= 'legacy';
    };
    return sdk;
  }
}

/** The version that a plain `initialize` asks for; undefined if it is not plain. */
function wantedVersion(params: Fields): string | undefined {
  const { protocolVersion, capabilities, clientInfo } = params;
  const isPlain = hasOnly(params, INITIALIZE_KEYS) && plainCapabilities(capabilities) && isClientInfo(clientInfo);
  return isPlain && typeof protocolVersion === 'string' ? protocolVersion : undefined;
}
