import type { RequestId } from '@modelcontextprotocol/server';
import { concatJson, type JsonChunks, jsonBytes } from '../../wire/json-chunks.ts';
import type { NotificationSink } from '../protocol/fast/fast-path.ts';
import {
  type EventStream,
  eventIdOf,
  type ReplayBuffer,
  type ResponseSink,
  type ResumableReply,
} from './replay-buffer.ts';

/** How long a call may run before its response begins as an event stream. */
const OPEN_MS = 1_000;
/** How often an event stream gets a comment, so that no proxy times out. */
export const ALIVE_MS = 15_000;

/** How long a client should wait before it connects again after it lost an event stream. */
export const RETRY_MS = 1_000;

/** The most bytes of notifications that wait for the client to read them. */
const MAX_UNREAD = 256 * 1024;

/**
 * The headers of an event stream. `no-transform` and `x-accel-buffering` keep proxies from holding events back. There
 * is no `connection` among them: Node sets it, unless a server that is leaving has set it to `close`.
 */
const STREAM_HEADERS = {
  'cache-control': 'no-cache, no-transform',
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no',
};

/** How the responses of a session are framed: always as event streams. */
export interface SessionForm {
  readonly sessionId: string | undefined;
  /** Keeps the streams for clients that lose their connection. */
  readonly replay: ReplayBuffer;
  /**
   * Whether streams begin with an event without data, which gives the client an id at once. Clients before 2025-11-25
   * fail on it.
   */
  readonly primes: boolean;
  /** The id of the request. */
  readonly request: RequestId;
}

/**
 * Writes one HTTP response: in a session as server-sent events, elsewhere as JSON, or as events if notifications
 * precede the result. A result that is the first thing to be sent shares one write with the headers. Writing to a
 * client that is gone does nothing; in a session, the client may continue on another connection.
 */
export class HttpReply implements NotificationSink, ResumableReply {
  #response: ResponseSink;
  readonly #session: SessionForm | undefined;
  #stream: EventStream | undefined;
  #isResumed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(response: ResponseSink, session?: SessionForm) {
    this.#response = response;
    this.#session = session;
  }

  /** Begins the event stream in a second if no result has been sent by then, and keeps it alive. */
  keepAlive(): void {
    this.#timer = setTimeout(() => this.#open(), OPEN_MS);
  }

  /**
   * Begins the event stream if necessary, and sends a notification, unless the client has too many unread ones already.
   * A client that was gone does not get it later.
   */
  notify(json: string): void {
    this.#open();
    if (this.#response.writableLength > MAX_UNREAD || this.#response.writableEnded) return;
    this.#response.write(jsonBytes(this.#event(json)));
  }

  /** Sends the result and ends the response. Undefined ends it without a result, for a call that was cancelled. */
  end(json: JsonChunks | undefined): true {
    this.#stopKeepingAlive();
    const { headersSent } = this.#response;
    const streams = this.#session !== undefined || headersSent;
    if (json === undefined) this.#forget();
    const priming = json === undefined || headersSent ? '' : this.#priming();
    const text = json === undefined ? '' : streams ? concatJson(priming, this.#event(json)) : json;
    const bytes = jsonBytes(text);
    if (headersSent) {
      // A server that stops ends the streams of clients that came back.
      if (!this.#response.writableEnded) this.#response.end(bytes);
    } else {
      const headers = streams ? streamHeaders(this.#session) : { 'content-type': 'application/json' };
      this.#response.writeHead(200, { 'content-length': bytes.length, ...headers }).end(bytes);
    }
    if (json !== undefined && this.#session !== undefined && this.#stream !== undefined) {
      // As bytes, which the garbage collector does not copy.
      const last = priming === '' ? bytes : bytes.subarray(priming.length);
      this.#session.replay.finish(this.#stream, new FinishedReply(this.#session, this.#stream, last), last.length);
    }
    return true;
  }

  /** Continues the event stream on another connection of the same client. */
  resume(response: ResponseSink): void {
    this.#stopKeepingAlive();
    if (!this.#response.writableEnded) this.#response.end();
    this.#response = response;
    this.#isResumed = true;
    response.writeHead(200, streamHeaders(this.#session)).flushHeaders();
    this.#keepStreamAlive();
  }

  /** Leaves the rest of the response to the SDK, which knows only of the first connection. */
  handOver(): void {
    this.#stopKeepingAlive();
    this.#forget();
    if (this.#isResumed && !this.#response.writableEnded) this.#response.end();
  }

  #open(): void {
    if (this.#response.headersSent) return;
    this.#response.writeHead(200, streamHeaders(this.#session)).flushHeaders();
    const priming = this.#priming();
    if (priming !== '') this.#response.write(priming);
    this.#keepStreamAlive();
  }

  #keepStreamAlive(): void {
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => writeKeepAlive(this.#response), ALIVE_MS).unref();
  }

  #stopKeepingAlive(): void {
    clearTimeout(this.#timer);
  }

  #forget(): void {
    if (this.#stream !== undefined) this.#session?.replay.drop(this.#stream);
  }

  #priming(): string {
    return this.#session?.primes ? primingEvent(this.#newEventId() ?? '') : '';
  }

  #event(json: JsonChunks): JsonChunks {
    return event(json, this.#newEventId());
  }

  /** Numbers the next event. Undefined outside a session. */
  #newEventId(): string | undefined {
    if (this.#session === undefined) return undefined;
    this.#stream ??= this.#session.replay.open(this, this.#session.request);
    const { next } = this.#stream;
    this.#stream.next += 1;
    return eventIdOf(this.#stream, next);
  }
}

/** What is kept of a reply that has been sent: the last event of its stream, which has the result. */
class FinishedReply implements ResumableReply {
  readonly #session: SessionForm;
  readonly #stream: EventStream;
  /**
   * The event as it was sent, which takes no more than its bytes: JSON is made of many small strings. A short one is a
   * string, because Node's short buffers are parts of one that they would keep from being freed.
   */
  readonly #event: Buffer | string;

  constructor(session: SessionForm, stream: EventStream, event: Buffer) {
    this.#session = session;
    this.#stream = stream;
    this.#event = event.length < Buffer.poolSize / 2 ? event.toString('latin1') : event;
  }

  resume(response: ResponseSink, lastSeen: number): void {
    const rest = lastSeen < this.#stream.next - 1 ? this.#event : '';
    response.writeHead(200, streamHeaders(this.#session)).end(rest, 'latin1');
  }
}

/** Returns an event without data, which gives the client an id to continue after. */
function primingEvent(eventId: string): string {
  return `id: ${eventId}\nretry: ${RETRY_MS}\ndata: \n\n`;
}

function event(json: JsonChunks, eventId: string | undefined): JsonChunks {
  const id = eventId === undefined ? '' : `id: ${eventId}\n`;
  return concatJson(`event: message\n${id}data: `, json, '\n\n');
}

/** Writes a comment, so that no proxy takes an event stream for dead. */
export function writeKeepAlive(response: ResponseSink): void {
  if (!response.writableEnded) response.write(': keepalive\n\n');
}

/** Returns the headers of an event stream, in a session or elsewhere. */
export function streamHeaders({ sessionId }: Partial<SessionForm> = {}): Record<string, string> {
  return sessionId === undefined ? STREAM_HEADERS : { 'mcp-session-id': sessionId, ...STREAM_HEADERS };
}
