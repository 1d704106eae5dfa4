import type { ServerResponse } from 'node:http';
import { concatJson, type JsonChunks, jsonBytes } from '../../wire/json-chunks.ts';
import type { NotificationSink } from '../protocol/fast/fast-path.ts';

/** How long a call may run before its response begins as an event stream. */
const OPEN_MS = 1_000;
/** How often an event stream gets a comment, so that no proxy times out. */
const ALIVE_MS = 15_000;

/** The headers of an event stream. `no-transform` and `x-accel-buffering` keep proxies from holding events back. */
const STREAM_HEADERS = {
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no',
};

/** How a response is framed. */
export interface ReplyForm {
  /** Whether to always respond with an event stream, or only if there are notifications before the result. */
  readonly stream: boolean;
  readonly sessionId?: string | undefined;
}

/**
 * Writes one HTTP response: as JSON, or as server-sent events if notifications precede the result. A result that is the first
 * thing to be sent shares one write with the headers. Writing to a client that is gone does nothing.
 */
export class HttpReply implements NotificationSink {
  readonly #response: ServerResponse;
  readonly #form: ReplyForm;
  #timer: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse, form: ReplyForm) {
    this.#response = response;
    this.#form = form;
  }

  /** Begins the event stream in a second if no result has been sent by then, and keeps it alive. */
  keepAlive(): void {
    this.#timer = setTimeout(() => this.#open(), OPEN_MS);
  }

  /** Begins the event stream if necessary, and sends a notification. */
  notify(json: string): void {
    this.#open();
    this.#response.write(jsonBytes(event(json)));
  }

  /** Sends the result and ends the response. Undefined ends it without a result, for a call that was cancelled. */
  end(json: JsonChunks | undefined): true {
    this.handOver();
    const streams = this.#form.stream || this.#response.headersSent;
    const text = json === undefined ? '' : streams ? event(json) : json;
    const bytes = jsonBytes(text);
    if (this.#response.headersSent) {
      this.#response.end(bytes);
      return true;
    }
    const headers = streams ? this.#headers() : { 'content-type': 'application/json' };
    this.#response.writeHead(200, { 'content-length': bytes.length, ...headers }).end(bytes);
    return true;
  }

  /** Stops keeping the stream alive, so that the SDK can continue the response. */
  handOver(): void {
    clearTimeout(this.#timer);
  }

  #open(): void {
    if (this.#response.headersSent) return;
    this.#response.writeHead(200, this.#headers()).flushHeaders();
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => this.#response.write(': keepalive\n\n'), ALIVE_MS).unref();
  }

  #headers(): Record<string, string> {
    const { sessionId } = this.#form;
    return sessionId === undefined ? STREAM_HEADERS : { 'mcp-session-id': sessionId, ...STREAM_HEADERS };
  }
}

function event(json: JsonChunks): JsonChunks {
  return concatJson('event: message\ndata: ', json, '\n\n');
}
