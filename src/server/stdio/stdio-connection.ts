import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { InFlight } from '../../runtime/in-flight.ts';
import type { Peer } from '../call/peer.ts';
import { isClientInfo, plainCapabilities } from '../protocol/fast/client-info.ts';
import { type FastCall, type FastCaller, type FastPath, NEEDS_SDK } from '../protocol/fast/fast-path.ts';
import { type Fields, hasOnly, type PlainRequest, plainRequest } from '../protocol/fast/plain-request.ts';
import { type MessageSink, SdkTransport, type ServeSdk } from './sdk-transport.ts';

export interface StdioConnectionOptions {
  readonly fastPath: FastPath;
  readonly peer: Peer;
  readonly sink: MessageSink;
  readonly serveSdk: ServeSdk;
}

/**
 * One client on stdio. What is plain goes down the fast lane, beginning with the opening of the conversation; the rest goes
 * to the SDK, which is started when there is something for it. It is then told first how the conversation was opened, as if
 * it had been there.
 */
export class StdioConnection {
  readonly #fastPath: FastPath;
  readonly #caller: FastCaller;
  readonly #sink: MessageSink;
  readonly #serveSdk: ServeSdk;
  /** Decided by the first request. Undefined also while the SDK deals with that one. */
  #era: 'legacy' | 'modern' | undefined;
  /** What the SDK has to know of before anything else. */
  #missed: JSONRPCMessage[] = [];
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
    if (request === undefined ? this.#hear(message) : this.#answer(request, message)) return;
    this.#leaveToSdk(message);
  }

  async close(): Promise<void> {
    await this.#sdk?.end();
    await this.#sink.close();
  }

  /** Whether a request was for the lane. */
  #answer(request: PlainRequest, message: JSONRPCMessage): boolean {
    if (this.#era === undefined) return this.#sdk === undefined && this.#open(request, message);
    return request.modern === (this.#era === 'modern') && this.#take(request, message);
  }

  /** The opening: `initialize`, or the first request of 2026-07-28. Asking what the server is decides nothing yet. */
  #open(request: PlainRequest, message: JSONRPCMessage): boolean {
    const { id, method, params, modern } = request;
    if (modern) {
      if (!this.#take(request, message)) return false;
      if (method === 'server/discover') return true;
      this.#era = 'modern';
      // Any request will do to show the SDK what the client speaks, if it has no effect.
      this.#missed = [
        { jsonrpc: '2.0', id, method: 'tools/list', params: { _meta: params._meta as Record<string, unknown> } },
      ];
      return true;
    }
    const version = method === 'initialize' ? wantedVersion(params) : undefined;
    if (version === undefined) return false;
    this.#era = 'legacy';
    this.#missed = [message];
    this.#sink.post(this.#fastPath.initialize(id, version));
    return true;
  }

  #take(request: PlainRequest, message: JSONRPCMessage): boolean {
    const reply = this.#fastPath.reply(request);
    if (reply !== undefined) {
      this.#sink.post(reply);
      return true;
    }
    const call = this.#fastPath.call(request, this.#caller);
    if (call === undefined) return false;
    this.#calls.add(call);
    void call.answer.then((answer) => {
      this.#calls.delete(call);
      if (answer === NEEDS_SDK) this.#leaveToSdk(message);
      else if (answer !== undefined) this.#sink.post(answer);
    });
    return true;
  }

  /** Whether something that is not a request was for the lane. */
  #hear(message: JSONRPCMessage): boolean {
    if (this.#era === undefined || !('method' in message) || 'id' in message) return false;
    if (message.method === 'notifications/cancelled') {
      const requestId = message.params?.requestId;
      const call = this.#calls.find(({ id }) => id === requestId);
      call?.cancel();
      return call !== undefined || this.#sdk === undefined;
    }
    if (message.method !== 'notifications/initialized' || this.#era === 'modern' || this.#sdk !== undefined)
      return false;
    this.#missed.push(message);
    return true;
  }

  #leaveToSdk(message: JSONRPCMessage): void {
    this.#sdk ??= this.#startSdk();
    this.#sdk.receive(message);
  }

  #startSdk(): SdkTransport {
    const sdk = new SdkTransport(this.#sink, this.#serveSdk);
    const [opening, ...more] = this.#missed;
    if (opening !== undefined) sdk.replay(opening);
    for (const message of more) sdk.receive(message);
    // If the opening is left to the SDK, the lane is open once it has let the client in.
    sdk.onInitialized = () => {
      this.#era ??= 'legacy';
    };
    return sdk;
  }
}

const INITIALIZE_KEYS: ReadonlySet<string> = new Set(['protocolVersion', 'capabilities', 'clientInfo', '_meta']);

/** The version that a plain `initialize` asks for. */
function wantedVersion(params: Fields): string | undefined {
  const { protocolVersion, capabilities, clientInfo } = params;
  const plain = hasOnly(params, INITIALIZE_KEYS) && plainCapabilities(capabilities) && isClientInfo(clientInfo);
  return plain && typeof protocolVersion === 'string' ? protocolVersion : undefined;
}
