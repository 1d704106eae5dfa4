import type { OutgoingHttpHeaders } from 'node:http';
import type { EventStore, JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';

/** How much of their event streams all sessions may keep together, in bytes of JSON. */
const TOTAL_BYTES = 64 * 1024 * 1024;
/** What is left of the total, and of the largest buffer, once the total was exceeded. */
const SHRUNK = 63 / 64;
/** How much one session may keep. */
const SESSION_BYTES = 16 * 1024 * 1024;
const SESSION_STREAMS = 1_000;
/** What a stream counts beside its messages. */
const STREAM_BYTES = 512;
/** How long the events of a stream are kept after its last one. */
const KEEP_MS = 5 * 60_000;

/** What a response is written to: a connection, or what stands for a client that came back at another replica. */
export interface ResponseSink {
  readonly headersSent: boolean;
  readonly writableLength: number;
  readonly writableEnded: boolean;
  writeHead(status: number, headers: OutgoingHttpHeaders): ResponseSink;
  flushHeaders(): void;
  write(chunk: Uint8Array | string): boolean;
  end(chunk?: Uint8Array | string, encoding?: BufferEncoding): unknown;
}

/** A response of the fast path that can be continued on another connection. */
export interface ResumableReply {
  /** Sends what followed the event of this number, and all that is still to come. */
  resume(response: ResponseSink, lastSeen: number): void;
}

/** One event stream of a session. Its events are numbered from 0. */
export interface EventStream {
  readonly number: number;
  /** What the ids of its events end with: the replica and the request, where there are replicas. */
  readonly tag: string;
  /** The number of the next event. */
  next: number;
  /** What is kept of it, in bytes. */
  bytes: number;
  /** When its last event was sent, by `performance.now()`; infinite if it must not expire. */
  lastUsed: number;
}

interface FastStream extends EventStream {
  reply: ResumableReply;
}

interface SdkStream extends EventStream {
  /** The name that the SDK gave it. */
  readonly sdkId: string;
  readonly messages: { readonly number: number; readonly message: JSONRPCMessage }[];
  /** Who waits at another replica for what follows an event. */
  wanted?: { readonly lastSeen: number; readonly keep: (rest: Buffer) => void } | undefined;
}

/** Options of a `ReplayBuffer`. */
export interface ReplayOptions {
  /**
   * The number before that of the first stream. Buffers that begin at random ones do not take an event of an earlier
   * one of the same session for one of their own.
   */
  readonly before?: number;
  /** The name of this replica; undefined where there are no others. */
  readonly replica?: string | undefined;
  /** Returns the one request that the SDK answers at the moment; undefined if there is none, or several in a batch. */
  readonly currentRequest?: () => RequestId | undefined;
}

/** What follows an event: in a stream of the fast path or of the SDK. */
type Continuation = { readonly reply: ResumableReply; readonly lastSeen: number } | 'sdk';

/**
 * Keeps the event streams of one session for a while, so that a client that lost its connection gets the rest of a
 * stream by `Last-Event-ID`. Bounded in streams, bytes and time: the stream that was used least recently is dropped
 * first, and whole, so that a client is told that it is too late instead of missing a part. The id of an event is
 * `STREAM-EVENT`, two numbers that are unique in a session only, so it must be looked up in the session of the client
 * that sent it. Where there are replicas, `.REPLICA.REQUEST` follows, so that another one knows whom to ask, and what
 * for.
 */
export class ReplayBuffer implements EventStore {
  readonly #budget: ReplayBudget;
  /** By number, the least recently used first. */
  readonly #streams = new Map<number, FastStream | SdkStream>();
  readonly #sdkStreams = new Map<string, SdkStream>();
  readonly #replica: string | undefined;
  readonly #currentRequest: () => RequestId | undefined;
  #opened: number;
  #bytes = 0;

  constructor(budget: ReplayBudget, options: ReplayOptions = {}) {
    const { before = 0, replica, currentRequest = () => undefined } = options;
    this.#budget = budget;
    this.#opened = before;
    this.#replica = replica;
    this.#currentRequest = currentRequest;
    budget.join(this);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Begins a stream of the fast path for the result of a request, which does not expire before it is finished. */
  open(reply: ResumableReply, request?: RequestId): EventStream {
    const tag = this.#tagOf(request);
    const stream: FastStream = { number: this.#newNumber(), tag, next: 0, bytes: 0, lastUsed: 0, reply };
    this.#use(stream, STREAM_BYTES);
    stream.lastUsed = Number.POSITIVE_INFINITY;
    return stream;
  }

  /** Ends a stream of the fast path. Its result, of so many bytes, is with `reply` from now on. */
  finish({ number }: EventStream, reply: ResumableReply, bytes: number): void {
    const stream = this.#streams.get(number);
    if (stream === undefined || !('reply' in stream)) return;
    stream.reply = reply;
    this.#use(stream, bytes);
  }

  /** Forgets a stream. */
  drop({ number }: EventStream): void {
    const stream = this.#streams.get(number);
    if (stream === undefined) return;
    this.#streams.delete(number);
    if ('sdkId' in stream) this.#sdkStreams.delete(stream.sdkId);
    this.#bytes -= stream.bytes;
    this.#budget.give(stream.bytes);
  }

  /**
   * Returns how to continue after an event; undefined if there was no such event, or what followed it is no longer
   * kept.
   */
  after(eventId: string): Continuation | undefined {
    const { stream, lastSeen } = this.#find(eventId) ?? {};
    if (stream === undefined || lastSeen === undefined) return undefined;
    return 'reply' in stream ? { reply: stream.reply, lastSeen } : 'sdk';
  }

  /** Numbers an event of the SDK and keeps it. The SDK sends an empty object first, to give the client an id. */
  async storeEvent(sdkId: string, message: JSONRPCMessage | Record<string, never>): Promise<string> {
    const stream = this.#sdkStreams.get(sdkId) ?? this.#openSdk(sdkId);
    const number = stream.next;
    stream.next += 1;
    if ('jsonrpc' in message) stream.messages.push({ number, message: message as JSONRPCMessage });
    this.#use(stream, 'jsonrpc' in message ? Buffer.byteLength(JSON.stringify(message)) : 0);
    keepIfDue(stream);
    return eventIdOf(stream, number);
  }

  /** Sends what followed an event in a stream of the SDK, and resolves with the SDK's name of it. */
  async replayEventsAfter(
    eventId: string,
    { send }: { send(eventId: string, message: JSONRPCMessage): Promise<void> },
  ): Promise<string> {
    const { stream, lastSeen } = this.#find(eventId) ?? {};
    if (stream === undefined || lastSeen === undefined || !('sdkId' in stream)) throw new Error('no such event');
    for (const { number, message } of stream.messages) {
      if (number > lastSeen) await send(eventIdOf(stream, number), message);
    }
    return stream.sdkId;
  }

  /**
   * Calls `keep` with the events that followed one in a stream of the SDK, for a client that waits for them at another
   * replica: as soon as the result is among them, or a question, which the client has to answer first. With undefined if
   * they are not kept. A later call for the same stream replaces this one.
   */
  keepRest(eventId: string, keep: (rest: Buffer | undefined) => void): void {
    const { stream, lastSeen } = this.#find(eventId) ?? {};
    if (stream === undefined || lastSeen === undefined || !('sdkId' in stream)) {
      keep(undefined);
      return;
    }
    stream.wanted = { lastSeen, keep };
    keepIfDue(stream);
  }

  /** Drops the streams that had no event for some minutes. */
  expire(now = performance.now()): void {
    for (const stream of this.#streams.values()) if (stream.lastUsed < now - KEEP_MS) this.drop(stream);
  }

  /** Drops the least recently used stream, and reports whether there was one. */
  dropOldest(): boolean {
    const [oldest] = this.#streams.values();
    if (oldest !== undefined) this.drop(oldest);
    return oldest !== undefined;
  }

  /** Drops everything. Must be called when the session ends. */
  close(): void {
    while (this.dropOldest());
    this.#budget.leave(this);
  }

  #newNumber(): number {
    this.#opened += 1;
    return this.#opened;
  }

  #tagOf(request: RequestId | undefined): string {
    return this.#replica === undefined || request === undefined ? '' : tagOf(this.#replica, request);
  }

  #openSdk(sdkId: string): SdkStream {
    const tag = this.#tagOf(this.#currentRequest());
    const stream = { number: this.#newNumber(), tag, next: 0, bytes: 0, lastUsed: 0, sdkId, messages: [] };
    this.#sdkStreams.set(sdkId, stream);
    this.#use(stream, STREAM_BYTES);
    return stream;
  }

  /**
   * Moves a stream to the end of the queue, adds to its bytes and keeps within the limits, at the cost of older
   * streams.
   */
  #use(stream: FastStream | SdkStream, bytes: number): void {
    stream.lastUsed = performance.now();
    stream.bytes += bytes;
    this.#bytes += bytes;
    this.#streams.delete(stream.number);
    this.#streams.set(stream.number, stream);
    while (this.#bytes > SESSION_BYTES || this.#streams.size > SESSION_STREAMS) this.dropOldest();
    this.#budget.take(bytes);
  }

  #find(eventId: string) {
    const [, number, lastSeen, tag = ''] = EVENT_ID.exec(eventId) ?? [];
    const stream = this.#streams.get(Number(number));
    if (stream === undefined || stream.tag !== tag || Number(lastSeen) >= stream.next) return undefined;
    return { stream, lastSeen: Number(lastSeen) };
  }
}

/**
 * Keeps what a client waits for at another replica once it has a message with an id: a question or the result. Its
 * connection there ends with what it gets, which notifications alone are not worth.
 */
function keepIfDue(stream: SdkStream): void {
  const { wanted, messages } = stream;
  if (wanted === undefined) return;
  const rest = messages.filter(({ number }) => number > wanted.lastSeen);
  const isAnswered = messages.some(({ message }) => 'id' in message && !('method' in message));
  if (!isAnswered && !rest.some(({ message }) => 'id' in message)) return;
  stream.wanted = undefined;
  const events = rest.map(({ number, message }) => {
    return `event: message\nid: ${eventIdOf(stream, number)}\ndata: ${JSON.stringify(message)}\n\n`;
  });
  wanted.keep(Buffer.from(events.join('')));
}

/** Returns the id of an event of a stream. */
export function eventIdOf({ number, tag }: EventStream, event: number): string {
  return `${number}-${event}${tag}`;
}

const EVENT_ID = /^(\d{1,15})-(\d{1,15})(\.[\da-f]{12}\.[\w-]{1,64})?$/;
/** A longer one is not in the ids of events. */
const MAX_REQUEST_BYTES = 48;

function tagOf(replica: string, request: RequestId): string {
  const bytes = Buffer.from(JSON.stringify(request));
  return bytes.length > MAX_REQUEST_BYTES ? '' : `.${replica}.${bytes.toString('base64url')}`;
}

/** Returns the replica at which a request was sent that an event belongs to; undefined if its id does not say. */
export function originOf(eventId: string): { readonly replica: string; readonly request: RequestId } | undefined {
  const [, , , tag] = EVENT_ID.exec(eventId) ?? [];
  if (tag === undefined) return undefined;
  const [, replica = '', encoded = ''] = tag.split('.');
  try {
    const request: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString());
    return typeof request === 'string' || typeof request === 'number' ? { replica, request } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What all replay buffers of a server may hold together. When it is exceeded, the largest ones drop their oldest
 * streams.
 */
export class ReplayBudget {
  readonly #limit: number;
  readonly #buffers = new Set<ReplayBuffer>();
  #bytes = 0;

  constructor(limit = TOTAL_BYTES) {
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#bytes;
  }

  join(buffer: ReplayBuffer): void {
    this.#buffers.add(buffer);
  }

  leave(buffer: ReplayBuffer): void {
    this.#buffers.delete(buffer);
  }

  take(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#limit) this.#shrink();
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }

  /** Drops a little more than is necessary, because looking through the buffers of all sessions takes long. */
  #shrink(): void {
    const enough = this.#limit * SHRUNK;
    while (this.#bytes > enough) {
      const most = this.#largest() * SHRUNK;
      for (const buffer of this.#buffers) {
        while (this.#bytes > enough && buffer.bytes > most) buffer.dropOldest();
      }
    }
  }

  #largest(): number {
    let largest = 0;
    for (const { bytes } of this.#buffers) largest = Math.max(largest, bytes);
    return largest;
  }
}
