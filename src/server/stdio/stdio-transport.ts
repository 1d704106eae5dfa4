import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { BufferPool } from '../../runtime/buffer-pool.ts';
import { drained } from '../../runtime/drained.ts';
import type { FairScheduler } from '../../runtime/fair-scheduler.ts';
import { concatJson, type JsonChunks } from '../../wire/json-chunks.ts';
import { type Fields, hasOnly, isId, isRecord, REQUEST_KEYS } from '../protocol/fast/plain-request.ts';
import { parseMessage, RefusedMessage } from '../protocol/parse-message.ts';
import type { MessageReceiver, MessageSink } from './sdk-transport.ts';

const LF = 0x0a;
/** A longer line is answered with an error, and the rest of it is skipped. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** How much of a line that is too long is searched for the id of its request. */
const HEAD_BYTES = 4096;
const INVALID_REQUEST = -32600;
/** A blank line of at most this length is ignored. */
const MAX_BLANK = 1024;
/**
 * Batched responses are written before the turn of the event loop ends once they exceed this length in UTF-16 units.
 */
const BATCH_LENGTH = 64 * 1024;
/** Backpressure: while the client has more unread output than this, its messages wait. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
const OUTPUT_CLOSED = 'the output is closed';

export interface StdioTransportOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Decides when a message may be handled. Without a scheduler, every message is handled as it arrives. */
  readonly scheduler?: Pick<FairScheduler, 'admit'>;
}

/**
 * Reads and writes newline-delimited JSON-RPC messages. Each line is only checked to be a JSON-RPC 2.0 object, and
 * answered with an error if it is not; the protocol layer checks the rest. (The SDK's own transport also validates each
 * message against a schema, which the protocol layer then repeats.) The end of the input does not close the connection,
 * so calls that are still running are answered.
 */
export class StdioTransport implements MessageSink {
  onclose?: () => void;
  /** Called for every line that is refused. */
  onerror?: (error: Error) => void;
  /** Set before `start`. */
  receiver?: MessageReceiver;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #scheduler: StdioTransportOptions['scheduler'];
  readonly #pool = new BufferPool();

  /** The parts of the line that is being read. */
  #line: Buffer[] = [];
  #lineBytes = 0;
  /** Whether the rest of a line that is too long is being skipped. */
  #isSkipping = false;
  #isListening = false;
  /** Lines that the scheduler has not admitted yet. */
  readonly #waiting: Buffer[] = [];

  /**
   * Responses of this turn of the event loop after the first. They share one write, which costs more than making a
   * response.
   */
  #batch = '';
  /** Output to write before `#batch`. */
  #chunks: Buffer[] = [];
  #chunkBytes = 0;
  #flushing: Promise<void> | undefined;

  constructor({ input, output, scheduler }: StdioTransportOptions) {
    this.#input = input;
    this.#output = output;
    this.#scheduler = scheduler;
  }

  /** Whether messages have arrived that are not handled yet. */
  get isBehind(): boolean {
    return this.#waiting.length > 0;
  }

  /** Starts reading messages. */
  start(): void {
    this.#isListening = true;
    this.#input.on('data', this.#read);
    this.#input.once('end', this.#endLine);
  }

  /** Resolves when the message is written and the output has drained. Rejects if the output is closed or fails. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#output.writable) throw new Error(OUTPUT_CLOSED);
    this.post(JSON.stringify(message));
    await this.#flushing;
  }

  /** Sends JSON as it is, after everything sent before it. Does nothing once the output is closed. */
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

  /** Stops reading, drops messages that are not handled yet, and writes what was sent. */
  async close(): Promise<void> {
    this.#isListening = false;
    this.#waiting.length = 0;
    this.#input.off('data', this.#read).off('end', this.#endLine);
    this.#input.pause();
    // `send` has already rejected for every message that could not be written.
    await this.#flushing?.catch(() => {});
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

  /** Writes before the turn of the event loop ends, so that the client can read while more responses are made. */
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
    // An empty line is nothing, and is not worth a turn of the scheduler.
    if (this.#isSkipping || part.length === 0) return;
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

  /** Called at the end of every line and at the end of the input. */
  readonly #endLine = (): void => {
    const [first, ...more] = this.#line;
    this.#line = [];
    this.#lineBytes = 0;
    if (this.#isSkipping) this.#isSkipping = false;
    else if (first !== undefined) this.#accept(more.length === 0 ? first : Buffer.concat([first, ...more]));
  };

  /** Handles a line now, or queues it until the scheduler admits it and the client has read enough output. */
  #accept(line: Buffer): void {
    if (this.#waiting.length > 0) {
      this.#waiting.push(line);
      return;
    }
    const wait = this.#isFull() ? drained(this.#output) : this.#scheduler?.admit();
    if (wait === undefined) {
      this.#handle(line);
      return;
    }
    this.#waiting.push(line);
    // Queued lines are handled before more input is read, so the queue is bounded by one chunk of input.
    this.#input.pause();
    void wait.then(this.#handleWaiting);
  }

  readonly #handleWaiting = async (): Promise<void> => {
    for (let line = this.#waiting[0]; line !== undefined; line = this.#waiting[0]) {
      this.#handle(line);
      this.#waiting.shift();
      if (this.#isFull()) await drained(this.#output);
      if (this.#waiting.length > 0) await this.#scheduler?.admit();
    }
    if (this.#isListening) this.#input.resume();
  };

  /** Reports whether the client has too much unread output to be sent more. */
  #isFull(): boolean {
    const { writable, writableLength } = this.#output;
    return writable && writableLength + this.#chunkBytes > MAX_UNREAD_BYTES;
  }

  #handle(line: Buffer): void {
    let parsed: unknown;
    try {
      parsed = parseMessage(line);
    } catch (error) {
      if (!(error instanceof RefusedMessage)) throw error;
      if (line.length > MAX_BLANK || line.toString('latin1').trim() !== '')
        this.#refuse(error.code, error.message, error.id);
      return;
    }
    if (Array.isArray(parsed) && parsed.length === 0) this.#refuse(INVALID_REQUEST, 'Invalid request: empty batch');
    // JSON-RPC batches, which 2025-03-26 allows.
    for (const message of Array.isArray(parsed) ? parsed : [parsed]) {
      if (isMessage(message)) this.receiver?.receive(message);
      else this.#refuse(INVALID_REQUEST, 'Invalid request: not a JSON-RPC 2.0 message', idOf(message));
    }
  }

  #refuse(code: number, message: string, id: unknown = null): void {
    this.onerror?.(new Error(message));
    const response = { jsonrpc: '2.0', id, error: { code, message } } as unknown as JSONRPCMessage;
    this.send(response).catch(() => {});
  }
}

/** Reports whether a value has the form of a JSON-RPC 2.0 request, notification or response. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== 'object' || value === null || !('jsonrpc' in value) || value.jsonrpc !== '2.0') return false;
  const { id, method, params } = value as { id?: unknown; method?: unknown; params?: unknown };
  if (method === undefined) return 'result' in value || 'error' in value;
  // The SDK ignores a request with any other id or key, and its client would wait forever.
  if (typeof method !== 'string' || (id !== undefined && !isId(id)) || !hasOnly(value as Fields, REQUEST_KEYS))
    return false;
  return params === undefined || (isRecord(params) && isMeta(params._meta));
}

const RELATED_TASK = 'io.modelcontextprotocol/related-task';

/** Reports whether `_meta` is as the SDK wants it. It ignores a request with any other, too. */
function isMeta(meta: unknown): boolean {
  if (meta === undefined) return true;
  if (!isRecord(meta)) return false;
  const { progressToken, [RELATED_TASK]: task } = meta;
  if (progressToken !== undefined && !isId(progressToken)) return false;
  return task === undefined || (isRecord(task) && typeof task.taskId === 'string');
}

function idOf(message: unknown): unknown {
  const { id } = (message ?? {}) as { id?: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
