import { randomUUID } from 'node:crypto';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import type { JsonChunks } from '../../wire/json.ts';

/** The way to the client. */
export interface MessageSink {
  /** Sends JSON as it is, after all that was sent before. What can no longer be sent is dropped. */
  post(json: JsonChunks): void;
  /** Rejects if the message can no longer be sent. */
  send(message: JSONRPCMessage): Promise<void>;
  close(): Promise<void>;
}

/** Has the SDK serve a transport; resolves with a way to end that. */
export type ServeSdk = (transport: Transport) => Promise<{ close(): Promise<void> }>;

/** The transport that the SDK sees. What it is given before it is ready waits. */
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

  /** Has the SDK hear a request that is answered already. */
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
