import { isUtf8 } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { BufferPool } from '../../runtime/buffer-pool.ts';
import { drained } from '../../runtime/drained.ts';
import { concatJson, type JsonChunks } from '../../wire/json-chunks.ts';
import type { MessageSink } from './sdk-transport.ts';

const LF = 0x0a;
/** A larger message is refused, and skipped up to its end. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** How much of a refused message is searched for its id. */
const HEAD_BYTES = 4096;
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
/** More gathered output than this is written before the turn of the event loop ends. */
const BATCH_LENGTH = 64 * 1024;
/** Messages of a client that has more output than this to read wait until it has read. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
const OUTPUT_CLOSED = 'the output is closed';

export interface StdioTransportOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Waits until a message may be handled; undefined if it may be at once. */
  admit?(): Promise<void> | undefined;
}

/**
 * JSON-RPC messages, one a line. The SDK's own transport checks each message against a schema that the protocol layer checks
 * again; this one only makes sure that a line is a JSON-RPC object, and tells the client if it is not. The end of the input is
 * not the end of the connection: calls under way are still answered.
 */
export class StdioTransport implements MessageSink {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #admit: () => Promise<void> | undefined;
  readonly #pool = new BufferPool();

  /** The line that is being read, in parts. */
  #line: Buffer[] = [];
  #lineBytes = 0;
  /** The line that is being read was refused already. */
  #isSkipping = false;
  #isListening = false;
  /** Lines that wait to be admitted. */
  readonly #waiting: Buffer[] = [];

  /** Responses of this turn of the event loop after the first. They go out together, because a write costs more than a response. */
  #batch = '';
  /** Output that waits to be written, after which `#batch` comes. */
  #chunks: Buffer[] = [];
  #chunkBytes = 0;
  #flushing: Promise<void> | undefined;

  /** Resolves when the connection is over. */
  readonly closed: Promise<void>;
  readonly #close: () => void;

  constructor({ input, output, admit = () => undefined }: StdioTransportOptions) {
    this.#input = input;
    this.#output = output;
    this.#admit = admit;
    let close = (): void => {};
    this.closed = new Promise((resolve) => {
      close = resolve;
    });
    this.#close = close;
  }

  /** Whether messages that have arrived wait to be handled. */
  get isBehind(): boolean {
    return this.#waiting.length > 0;
  }

  async start(): Promise<void> {
    this.#isListening = true;
    this.#input.on('data', this.#read);
    this.#input.once('end', this.#endLine);
  }

  /** Resolves when the message is written and there is room for more. Rejects if the output is closed or breaks. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#output.writable) throw new Error(OUTPUT_CLOSED);
    this.post(JSON.stringify(message));
    await this.#flushing;
  }

  post(json: JsonChunks): void {
    if (!this.#output.writable) return;
    if (this.#flushing === undefined) {
      this.#enqueue(concatJson(json, '\n'));
      this.#flushing = this.#flush();
      this.#flushing.catch(() => {});
    } else if (typeof json === 'string') {
      this.#batch += `${json}\n`;
      if (this.#batch.length > BATCH_LENGTH) this.#flushEarly();
    } else {
      this.#flushEarly();
      this.#enqueue(concatJson(json, '\n'));
    }
  }

  async close(): Promise<void> {
    this.#isListening = false;
    this.#waiting.length = 0;
    this.#input.off('data', this.#read).off('end', this.#endLine);
    this.#input.pause();
    // Those who sent what cannot be written any more have been told.
    await this.#flushing?.catch(() => {});
    this.#close();
    this.onclose?.();
  }

  #enqueue(text: JsonChunks): void {
    for (const bytes of typeof text === 'string' ? [this.#pool.encode(text)] : text) {
      this.#chunks.push(bytes);
      this.#chunkBytes += bytes.length;
    }
  }

  #enqueueBatch(): void {
    if (this.#batch !== '') this.#enqueue(this.#batch);
    this.#batch = '';
  }

  /** Writes before the turn ends, so that the client can read while more is made. */
  #flushEarly(): void {
    this.#enqueueBatch();
    if (!this.#output.writableNeedDrain) this.#writeChunks();
  }

  async #flush(): Promise<void> {
    try {
      for (;;) {
        this.#writeChunks();
        if (this.#output.writableNeedDrain) await drained(this.#output);
        else await new Promise((resolve) => setImmediate(resolve));
        if (!this.#output.writable) throw new Error(OUTPUT_CLOSED);
        this.#enqueueBatch();
        if (this.#chunks.length === 0) return;
      }
    } finally {
      this.#batch = '';
      this.#chunks = [];
      this.#chunkBytes = 0;
      this.#flushing = undefined;
    }
  }

  #writeChunks(): void {
    const chunks = this.#chunks;
    if (chunks.length > 1) this.#output.cork();
    for (const bytes of chunks) this.#output.write(bytes);
    if (chunks.length > 1) this.#output.uncork();
    this.#chunks = [];
    this.#chunkBytes = 0;
  }

  readonly #read = (data: Buffer): void => {
    let from = 0;
    for (let at = data.indexOf(LF); at !== -1; at = data.indexOf(LF, from)) {
      this.#addToLine(data.subarray(from, at));
      this.#endLine();
      from = at + 1;
    }
    if (from < data.length) this.#addToLine(data.subarray(from));
  };

  #addToLine(part: Buffer): void {
    if (this.#isSkipping) return;
    this.#line.push(part);
    this.#lineBytes += part.length;
    if (this.#lineBytes <= MAX_MESSAGE_BYTES) return;
    const head = Buffer.concat(this.#line).toString('latin1', 0, HEAD_BYTES);
    const id = /"id"\s*:\s*(\d+|"[^"\\]*")/.exec(head)?.[1];
    this.#isSkipping = true;
    this.#line = [];
    const problem = `message too large: at most ${MAX_MESSAGE_BYTES} bytes`;
    this.#refuse(INVALID_REQUEST, problem, id === undefined ? null : JSON.parse(id));
  }

  /** Called at the end of a line, and of the input. */
  readonly #endLine = (): void => {
    const [first, ...more] = this.#line;
    this.#line = [];
    this.#lineBytes = 0;
    if (this.#isSkipping) this.#isSkipping = false;
    else if (first !== undefined) this.#accept(more.length === 0 ? first : Buffer.concat([first, ...more]));
  };

  /** Handles a line, or lets it wait for its admission. */
  #accept(line: Buffer): void {
    if (this.#waiting.length > 0) {
      this.#waiting.push(line);
      return;
    }
    const wait = this.#isFull() ? drained(this.#output) : this.#admit();
    if (wait === undefined) {
      this.#handle(line);
      return;
    }
    this.#waiting.push(line);
    // What has arrived is handled before more is read.
    this.#input.pause();
    void wait.then(this.#handleWaiting);
  }

  readonly #handleWaiting = async (): Promise<void> => {
    for (let line = this.#waiting[0]; line !== undefined; line = this.#waiting[0]) {
      this.#handle(line);
      this.#waiting.shift();
      if (this.#isFull()) await drained(this.#output);
      if (this.#waiting.length > 0) await this.#admit();
    }
    if (this.#isListening) this.#input.resume();
  };

  /** The client is far behind with reading. */
  #isFull(): boolean {
    const { writable, writableLength } = this.#output;
    return writable && writableLength + this.#chunkBytes > MAX_UNREAD_BYTES;
  }

  #handle(line: Buffer): void {
    let parsed: unknown;
    try {
      // Bytes that are not UTF-8 must not reach a file as replacement characters.
      if (!isUtf8(line)) throw new Error('not UTF-8');
      parsed = JSON.parse(line.toString('utf8'));
    } catch {
      if (line.toString('latin1').trim() !== '') this.#refuse(PARSE_ERROR, 'Parse error: a line is not valid JSON');
      return;
    }
    // Some older clients send several messages as one array.
    for (const message of Array.isArray(parsed) ? parsed : [parsed]) {
      if (isMessage(message)) this.onmessage?.(message);
      else this.#refuse(INVALID_REQUEST, 'Invalid request: not a JSON-RPC 2.0 message', idOf(message));
    }
  }

  #refuse(code: number, message: string, id: unknown = null): void {
    this.onerror?.(new Error(message));
    const response = { jsonrpc: '2.0', id, error: { code, message } } as unknown as JSONRPCMessage;
    this.send(response).catch(() => {});
  }
}

/** Tests whether a value has the form of a JSON-RPC message, so that the protocol answers it. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== 'object' || value === null || !('jsonrpc' in value) || value.jsonrpc !== '2.0') return false;
  const { method, params } = value as { method?: unknown; params?: unknown };
  if (method === undefined) return 'result' in value || 'error' in value;
  return typeof method === 'string' && (params === undefined || (typeof params === 'object' && params !== null));
}

function idOf(message: unknown): unknown {
  const { id } = (message ?? {}) as { id?: unknown };
  return typeof id === 'string' || Number.isSafeInteger(id) ? id : null;
}
