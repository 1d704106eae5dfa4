import type { ServerResponse } from 'node:http';
import { concatJson, type JsonChunks, jsonBytes } from '../../wire/json-chunks.ts';

/** When a stream begins at the latest, so that nobody on the way takes the request for lost; then how often it shows life. */
const OPEN_MS = 1_000;
const ALIVE_MS = 15_000;

const STREAM_HEADERS = {
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no',
};

export interface ReplyForm {
  /** The answer is an event, even if it is the only one; else it is one only after others. */
  readonly stream: boolean;
  readonly sessionId?: string | undefined;
}

/**
 * The way back to a client over HTTP. What comes in time goes out as one piece with its headers. Nothing is lost on a
 * client that is gone: writing to it does nothing.
 */
export class HttpReply {
  readonly #response: ServerResponse;
  readonly #form: ReplyForm;
  #timer: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse, form: ReplyForm) {
    this.#response = response;
    this.#form = form;
  }

  /** Begins the stream, and keeps it alive, if the answer takes its time. */
  keepAlive(): void {
    this.#timer = setTimeout(() => this.#open(), OPEN_MS);
  }

  notify(json: string): void {
    this.#open();
    this.#response.write(jsonBytes(event(json)));
  }

  /** Sends the answer, or nothing in place of one for a call that was cancelled. */
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

  /** Leaves the response to another. */
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
