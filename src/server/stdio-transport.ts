import { isUtf8 } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { hasRoom } from './has-room.ts';

const LF = 0x0a;
/** A message larger than this ends the connection: what comes after it could not be told from its rest. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
const OUTPUT_CLOSED = 'the output is closed';

/**
 * JSON-RPC messages, one a line. The SDK's own transport does the same, checking each message against a schema that the
 * protocol layer checks again; this one only makes sure that it is a JSON-RPC object. The end of the input is not the
 * end of the connection: calls under way are still answered.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  #rest: Buffer[] = [];
  #restBytes = 0;
  /** Answers of one turn of the event loop after the first, which go out together: a write costs more than a small answer. */
  #waiting = '';
  #written: Promise<void> | undefined;

  /** Resolves when the connection is over, from our side or by a message that is too large. */
  readonly closed: Promise<void>;
  readonly #close: () => void;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
    let close = (): void => {};
    this.closed = new Promise((resolve) => {
      close = resolve;
    });
    this.#close = close;
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#read);
  }

  /** Resolves when the message is written and there is room for more. Rejects if the output is closed or breaks. */
  async send(message: JSONRPCMessage): Promise<void> {
    const line = `${JSON.stringify(message)}\n`;
    if (!this.#output.writable) throw new Error(OUTPUT_CLOSED);
    if (this.#written === undefined) {
      this.#written = this.#write(line);
    } else {
      this.#waiting += line;
    }
    await this.#written;
  }

  async close(): Promise<void> {
    this.#input.off('data', this.#read);
    this.#input.pause();
    // What cannot be written any more has been reported to those who sent it.
    await this.#written?.catch(() => {});
    this.#close();
    this.onclose?.();
  }

  async #write(text: string): Promise<void> {
    let next = text;
    try {
      for (;;) {
        if (!this.#output.write(Buffer.from(next))) await hasRoom(this.#output);
        else await new Promise((resolve) => setImmediate(resolve));
        if (!this.#output.writable) throw new Error(OUTPUT_CLOSED);
        if (this.#waiting === '') return;
        next = this.#waiting;
        this.#waiting = '';
      }
    } finally {
      this.#waiting = '';
      this.#written = undefined;
    }
  }

  readonly #read = (chunk: Buffer): void => {
    let from = 0;
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, from)) {
      const tail = chunk.subarray(from, at);
      from = at + 1;
      this.#line(this.#rest.length === 0 ? tail : Buffer.concat([...this.#rest.splice(0), tail]));
      this.#restBytes = 0;
    }
    if (from === chunk.length) return;
    this.#rest.push(chunk.subarray(from));
    this.#restBytes += chunk.length - from;
    if (this.#restBytes <= MAX_MESSAGE_BYTES) return;
    this.onerror?.(new Error(`a message exceeds ${MAX_MESSAGE_BYTES} bytes`));
    void this.close();
  };

  #line(line: Buffer): void {
    let message: unknown;
    try {
      // Bytes that are not UTF-8 must not reach a file as replacement characters.
      if (!isUtf8(line)) throw new Error('a message is not UTF-8');
      message = JSON.parse(line.toString('utf8'));
    } catch (error) {
      if (line.toString('latin1').trim() !== '') this.onerror?.(error as Error);
      return;
    }
    if (isMessage(message)) this.onmessage?.(message);
    else this.onerror?.(new Error('a line is not a JSON-RPC 2.0 message'));
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
}
