import { randomUUID } from 'node:crypto';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import type { JsonChunks } from '../../wire/json-chunks.ts';

/** Where messages for the client go. */
export interface MessageSink {
  /** Sends JSON as it is, after everything that was sent before. What cannot be sent any more is dropped. */
  post(json: JsonChunks): void;
  /** Rejects if the message cannot be sent any more. */
  send(message: JSONRPCMessage): Promise<void>;
  close(): Promise<void>;
}

/** Has the SDK serve a transport. The result ends that. */
export type ServeSdk = (transport: Transport) => Promise<{ close(): Promise<void> }>;

/** The transport that the SDK sees on stdio: messages that the fast path left to it. Those that come before it is loaded wait. */
export class SdkTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Called when the SDK has answered `initialize`. */
  onInitialized?: () => void;
  readonly #sink: MessageSink;
  readonly #serving: ReturnType<ServeSdk>;
  readonly #replayId = `replay-${randomUUID()}`;

  constructor(sink: MessageSink, serve: ServeSdk) {
    this.#sink = sink;
    this.#serving = serve(this);
  }

  receive(message: JSONRPCMessage): void {
    void this.#serving.then(() => this.onmessage?.(message));
  }

  /** Lets the SDK handle a request that is answered already, and drops its response. */
  replay(request: JSONRPCMessage): void {
    this.receive({ ...request, id: this.#replayId } as JSONRPCMessage);
  }

  async end(): Promise<void> {
    await (await this.#serving).close();
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if ('id' in message && message.id === this.#replayId) return;
    await this.#sink.send(message);
    if ('result' in message && 'serverInfo' in message.result) this.onInitialized?.();
  }

  async close(): Promise<void> {
    await this.#sink.close();
    this.onclose?.();
  }
}
