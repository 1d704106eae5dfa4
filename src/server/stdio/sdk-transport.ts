import { randomUUID } from 'node:crypto';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import type { JsonChunks } from '../../wire/json-chunks.ts';

/** The output side of a connection: sends messages to the client. */
export interface MessageSink {
  /** Sends JSON as it is, after everything sent before it. Does nothing once the output is closed. */
  post(json: JsonChunks): void;
  /** Resolves when the message is written. Rejects if the output is closed or fails. */
  send(message: JSONRPCMessage): Promise<void>;
  /** Writes what was sent and closes the connection. */
  close(): Promise<void>;
}

/** Gets every message that the client sends, in order. */
export interface MessageReceiver {
  receive(message: JSONRPCMessage): void;
}

/** Starts the SDK on a transport. `close` of the result stops it. */
export type ServeSdk = (transport: Transport) => Promise<{ close(): Promise<void> }>;

/**
 * The transport that the SDK sees on stdio. It carries only the messages that the fast path does not answer; messages
 * that arrive while the SDK is still loading wait for it.
 */
export class SdkTransport implements Transport, MessageReceiver {
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

  /** Passes a message to the SDK. */
  receive(message: JSONRPCMessage): void {
    // If the SDK cannot be loaded, the server ends.
    void this.#serving.then(
      () => this.onmessage?.(message),
      () => {},
    );
  }

  /** Passes a request to the SDK that the fast path has already answered, and drops the response of the SDK. */
  replay(request: JSONRPCMessage): void {
    this.receive({ ...request, id: this.#replayId } as JSONRPCMessage);
  }

  /** Stops the SDK. */
  async end(): Promise<void> {
    const serving = await this.#serving.catch(() => undefined);
    await serving?.close();
  }

  /** Does nothing: messages arrive by `receive`. */
  async start(): Promise<void> {}

  /** Called by the SDK to send a message to the client. */
  async send(message: JSONRPCMessage): Promise<void> {
    if ('id' in message && message.id === this.#replayId) return;
    await this.#sink.send(message);
    if ('result' in message && 'serverInfo' in message.result) this.onInitialized?.();
  }

  /** Called by the SDK to close the connection. */
  async close(): Promise<void> {
    await this.#sink.close();
    this.onclose?.();
  }
}
