import { isUtf8 } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { BufferPool } from '../../runtime/buffer-pool.ts';
import { drained } from '../../runtime/drained.ts';
import { concatJson, type JsonChunks } from '../../wire/json.ts';
import type { MessageSink } from './sdk-transport.ts';

const LF = 0x0a;
/** A message larger than this is refused, and passed over up to its end. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** How much of a refused message is searched for its id. */
const HEAD_BYTES = 4096;
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
/** How many lines of stdin are heard before others have a turn. */
const LINES_A_TURN = 8;
/** More output than this goes out before the turn ends. */
const GATHER_LENGTH = 64 * 1024;
/** A client that has more than this to read is not heard until it has read. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
const OUTPUT_CLOSED = 'the output is closed';

/**
 * JSON-RPC messages, one a line. The SDK's own transport does the same, checking each message against a schema that the
 * protocol layer checks again; this one only makes sure that it is a JSON-RPC object, and says so to the client if it is
 * not. The end of the input is not the end of the connection: calls under way are still answered.
 */
export class StdioTransport implements MessageSink {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #slab = new BufferPool();
  #rest: Buffer[] = [];
  #restBytes = 0;
  /** The line being read was refused already. */
  #skipping = false;
  /** How many lines were heard in this turn, and those that wait for theirs. */
  #heard = 0;
  #listens = false;
  readonly #unheard: Buffer[] = [];
  /** Answers of one turn of the event loop after the first, which go out together: a write costs more than a small answer. */
  #gathered = '';
  /** What the output is to get next. */
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #written: Promise<void> | undefined;

  /** Resolves when the connection is over. */
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

  /** Whether lines are still to be heard that have come already. */
  get behind(): boolean {
    return this.#unheard.length > 0;
  }

  async start(): Promise<void> {
    this.#listens = true;
    this.#input.on('data', this.#read);
    this.#input.once('end', this.#finish);
  }

  /** Resolves when the message is written and there is room for more. Rejects if the output is closed or breaks. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#output.writable) throw new Error(OUTPUT_CLOSED);
    this.post(JSON.stringify(message));
    await this.#written;
  }

  post(json: JsonChunks): void {
    if (!this.#output.writable) return;
    if (this.#written === undefined) {
      this.#keep(concatJson(json, '\n'));
      this.#written = this.#write();
      this.#written.catch(() => {});
    } else if (typeof json === 'string') {
      this.#gathered += `${json}\n`;
      if (this.#gathered.length > GATHER_LENGTH) this.#passOn();
    } else {
      this.#passOn();
      this.#keep(concatJson(json, '\n'));
    }
  }

  /** The reader can be at work on what was gathered while more is made. */
  #passOn(): void {
    if (this.#gathered !== '') this.#keep(this.#gathered);
    this.#gathered = '';
    if (!this.#output.writableNeedDrain) this.#hand();
  }

  #keep(text: JsonChunks): void {
    for (const bytes of typeof text === 'string' ? [this.#slab.encode(text)] : text) {
      this.#kept.push(bytes);
      this.#keptBytes += bytes.length;
    }
  }

  async close(): Promise<void> {
    this.#listens = false;
    this.#unheard.length = 0;
    this.#input.off('data', this.#read).off('end', this.#finish);
    this.#input.pause();
    // What cannot be written any more has been reported to those who sent it.
    await this.#written?.catch(() => {});
    this.#close();
    this.onclose?.();
  }

  async #write(): Promise<void> {
    try {
      for (;;) {
        this.#hand();
        if (this.#output.writableNeedDrain) await drained(this.#output);
        else await new Promise((resolve) => setImmediate(resolve));
        if (!this.#output.writable) throw new Error(OUTPUT_CLOSED);
        if (this.#gathered !== '') this.#keep(this.#gathered);
        this.#gathered = '';
        if (this.#kept.length === 0) return;
      }
    } finally {
      this.#gathered = '';
      this.#kept = [];
      this.#keptBytes = 0;
      this.#written = undefined;
    }
  }

  /** Hands all that is kept to the output. */
  #hand(): void {
    const kept = this.#kept;
    if (kept.length > 1) this.#output.cork();
    for (const bytes of kept) this.#output.write(bytes);
    if (kept.length > 1) this.#output.uncork();
    this.#kept = [];
    this.#keptBytes = 0;
  }

  /** The client is far behind with reading. */
  #isFull(): boolean {
    const { writable, writableLength } = this.#output;
    return writable && writableLength + this.#keptBytes > MAX_UNREAD_BYTES;
  }

  readonly #read = (chunk: Buffer): void => {
    this.#heard = 0;
    let from = 0;
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, from)) {
      this.#add(chunk.subarray(from, at));
      this.#finish();
      from = at + 1;
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
  };

  #add(part: Buffer): void {
    if (this.#skipping) return;
    this.#rest.push(part);
    this.#restBytes += part.length;
    if (this.#restBytes <= MAX_MESSAGE_BYTES) return;
    const head = Buffer.concat(this.#rest).toString('latin1', 0, HEAD_BYTES);
    const id = /"id"\s*:\s*(\d+|"[^"\\]*")/.exec(head)?.[1];
    this.#skipping = true;
    this.#rest = [];
    const problem = `message too large: at most ${MAX_MESSAGE_BYTES} bytes`;
    this.#refuse(INVALID_REQUEST, problem, id === undefined ? null : JSON.parse(id));
  }

  /** The end of a line, or of the input. */
  readonly #finish = (): void => {
    const [first, ...more] = this.#rest;
    this.#rest = [];
    this.#restBytes = 0;
    if (this.#skipping) this.#skipping = false;
    else if (first !== undefined) this.#hear(more.length === 0 ? first : Buffer.concat([first, ...more]));
  };

  /**
   * Of many lines that came together, a few have a turn, after which calls that do not wait for anything are over: what fifty
   * calls make at the same time would have to be kept until the last of them is.
   */
  #hear(line: Buffer): void {
    if (this.#unheard.length === 0 && this.#heard < LINES_A_TURN && !this.#isFull()) {
      this.#heard += 1;
      this.#line(line);
      return;
    }
    if (this.#unheard.push(line) > 1) return;
    // What has come is heard before more is taken in.
    this.#input.pause();
    setImmediate(this.#hearMore);
  }

  readonly #hearMore = (): void => {
    if (this.#isFull()) {
      void drained(this.#output).then(() => setImmediate(this.#hearMore));
      return;
    }
    for (const line of this.#unheard.splice(0, LINES_A_TURN)) this.#line(line);
    if (this.#unheard.length > 0) setImmediate(this.#hearMore);
    else if (this.#listens) this.#input.resume();
  };

  #line(line: Buffer): void {
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
    const answer = { jsonrpc: '2.0', id, error: { code, message } } as unknown as JSONRPCMessage;
    this.send(answer).catch(() => {});
  }
}

/** Whether it has the form of one, so that whoever gets it answers it. */
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
