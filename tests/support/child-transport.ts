import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from '@modelcontextprotocol/client';

/**
 * The client's end of a stdio connection to a process that the test started. The SDK's own transport starts the process
 * itself and hides it, so a test could neither signal it nor read its log.
 */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #buffer = new ReadBuffer();

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
  }

  async start(): Promise<void> {
    this.#child.stdout.on('data', (chunk: Buffer) => {
      try {
        this.#buffer.append(chunk);
        for (let message = this.#buffer.readMessage(); message !== null; message = this.#buffer.readMessage()) {
          this.onmessage?.(message);
        }
      } catch (error) {
        // Anything but the protocol on stdout ends up here.
        this.onerror?.(error as Error);
      }
    });
    this.#child.stdin.on('error', () => {});
    this.#child.once('close', () => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#child.stdin.write(serializeMessage(message));
  }

  async close(): Promise<void> {
    this.#child.stdin.end();
  }
}
