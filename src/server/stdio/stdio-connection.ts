import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { InFlight } from '../call/running/in-flight.ts';
import type { Peer } from '../clients/peer.ts';
import { type FastCall, type FastPath, NEEDS_SDK, type NotificationSink } from '../protocol/fast/fast-path.ts';
import {
  clientNameOf,
  type Fields,
  hasOnly,
  isClientInfo,
  type PlainRequest,
  plainCapabilities,
  plainRequest,
} from '../protocol/fast/plain-request.ts';
import { refuseByRate } from '../protocol/rate-refusal.ts';
import { type MessageReceiver, type MessageSink, SdkTransport, type ServeSdk } from './sdk-transport.ts';

const INITIALIZE_KEYS: ReadonlySet<string> = new Set(['protocolVersion', 'capabilities', 'clientInfo', '_meta']);

/** Options of a `StdioConnection`. */
export interface StdioConnectionOptions {
  readonly fastPath: FastPath;
  readonly peer: Peer;
  readonly sink: MessageSink;
  readonly serveSdk: ServeSdk;
}

/**
 * Decides whether the fast path or the SDK answers a message of the client on stdio. Plain requests take the fast path,
 * the handshake included. Everything else goes to the SDK, which is started for the first such message; the handshake
 * is then replayed to it, so that it is in the same state as if it had answered it.
 */
export class StdioConnection implements MessageReceiver, NotificationSink {
  readonly #fastPath: FastPath;
  #peer: Peer;
  readonly #sink: MessageSink;
  readonly #serveSdk: ServeSdk;
  /** Set by the first request; undefined until then, and while the SDK handles that request. */
  #era: 'legacy' | 'modern' | undefined;
  /** The messages that the SDK has to handle before any other. */
  #handshake: JSONRPCMessage[] = [];
  #sdk: SdkTransport | undefined;
  readonly #calls = new InFlight<FastCall>();

  constructor({ fastPath, peer, sink, serveSdk }: StdioConnectionOptions) {
    this.#fastPath = fastPath;
    this.#peer = peer;
    this.#sink = sink;
    this.#serveSdk = serveSdk;
  }

  /** Handles a message of the client: on the fast path if it can, else by passing it to the SDK. */
  receive(message: JSONRPCMessage): void {
    if (this.#peer.limits !== undefined && this.#isTooSoon(message)) return;
    const request = plainRequest(message);
    const isHandled = request === undefined ? this.#handleOther(message) : this.#handleRequest(request, message);
    if (!isHandled) this.#passToSdk(message);
  }

  /** Sends a notification of a call that runs on the fast path. */
  notify(json: string): void {
    this.#sink.post(json);
  }

  /** Stops the SDK, writes what was sent and closes the connection. */
  async close(): Promise<void> {
    await this.#sdk?.end();
    await this.#sink.close();
  }

  /** Refuses a request that comes too soon, and reports whether it did. */
  #isTooSoon(received: JSONRPCMessage): boolean {
    const refusal = refuseByRate(received, this.#peer.limits?.rate);
    if (refusal === undefined) return false;
    const { id, message } = refusal;
    this.#sink.post(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message } }));
    return true;
  }

  /** Handles a plain request, and reports whether it did; otherwise the SDK has to. */
  #handleRequest(request: PlainRequest, message: JSONRPCMessage): boolean {
    if (this.#era === undefined) return this.#sdk === undefined && this.#handleFirst(request, message);
    return request.modern === (this.#era === 'modern') && this.#answer(request, message);
  }

  /**
   * Handles `initialize` or the first request of 2026-07-28, and reports whether it did. `server/discover` leaves the
   * era open.
   */
  #handleFirst(request: PlainRequest, message: JSONRPCMessage): boolean {
    const { id, method, params, modern } = request;
    if (modern) {
      if (!this.#answer(request, message)) return false;
      if (method === 'server/discover') return true;
      this.#era = 'modern';
      // The SDK learns the era of the client from its first request, so it is replayed one that has no effect.
      this.#handshake = [
        { jsonrpc: '2.0', id, method: 'tools/list', params: { _meta: params._meta as Record<string, unknown> } },
      ];
      return true;
    }
    const version = method === 'initialize' ? requestedVersion(params) : undefined;
    if (version === undefined) return false;
    this.#era = 'legacy';
    this.#peer = { ...this.#peer, clientName: clientNameOf(params.clientInfo) };
    this.#handshake = [message];
    this.#sink.post(this.#fastPath.initialize(id, version));
    return true;
  }

  /** Reports whether the fast path answers a request, now or when its call has ended. */
  #answer(request: PlainRequest, message: JSONRPCMessage): boolean {
    const reply = this.#fastPath.reply(request, this.#peer);
    if (reply !== undefined) {
      this.#sink.post(reply);
      return true;
    }
    const call = this.#fastPath.call(request, this.#peer, this);
    if (call === undefined) return false;
    this.#calls.add(call);
    void call.response.then((response) => {
      this.#calls.delete(call);
      if (response === NEEDS_SDK) this.#passToSdk(message);
      else if (response !== undefined) this.#sink.post(response);
    });
    return true;
  }

  /** Handles a message that is not a plain request, and reports whether it did; otherwise the SDK has to. */
  #handleOther(message: JSONRPCMessage): boolean {
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
    // If the SDK handles `initialize` itself, the fast path may be used once the SDK has answered it.
    sdk.onInitialized = () => {
      this.#era ??= 'legacy';
    };
    return sdk;
  }
}

/** Returns the version that an `initialize` requests; undefined if the SDK has to handle that `initialize`. */
function requestedVersion(params: Fields): string | undefined {
  const { protocolVersion, capabilities, clientInfo } = params;
  const isPlain = hasOnly(params, INITIALIZE_KEYS) && plainCapabilities(capabilities) && isClientInfo(clientInfo);
  return isPlain && typeof protocolVersion === 'string' ? protocolVersion : undefined;
}
