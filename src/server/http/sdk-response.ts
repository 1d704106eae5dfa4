import type { IncomingMessage, ServerResponse } from 'node:http';
import { drained } from '../../runtime/drained.ts';
import type { HeldBytes } from '../limits/held-bytes.ts';

/**
 * How long a client may read nothing of an answer that is there for it, before the connection is closed. Node waits
 * once more if part of the answer was taken meanwhile, which the first part always is.
 */
export const STALLED_MS = 15_000;

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';
const BOTH_TYPES = `${JSON_TYPE}, ${STREAM_TYPE}`;

/**
 * Reports whether an `Accept` header allows both JSON and event streams, by name or by range. A client without the
 * header accepts anything ({@link https://www.rfc-editor.org/rfc/rfc9110#name-accept RFC 9110}).
 */
export function acceptsResponses(accept: string | undefined): boolean {
  // Nearly every client names both types and nothing else.
  if (accept === BOTH_TYPES) return true;
  return accepts(accept, JSON_TYPE) && acceptsStreams(accept);
}

/** Reports whether an `Accept` header allows event streams. */
export function acceptsStreams(accept: string | undefined): boolean {
  return accepts(accept, STREAM_TYPE);
}

function accepts(accept: string | undefined, type: string): boolean {
  const ranges = ['*/*', type, `${type.split('/', 1)[0]}/*`];
  return (accept ?? '*/*').split(',').some((item) => {
    const [range = '', ...parameters] = item.toLowerCase().split(';');
    return ranges.includes(range.trim()) && !parameters.some((parameter) => /^\s*q=0(?:\.0*)?\s*$/.test(parameter));
  });
}

/**
 * Returns a request in the form that the SDK takes, without its body, which the SDK gets parsed. Ranges in `Accept`,
 * which the SDK does not know, are replaced by the types that they contain.
 */
export function toWebRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const item of Array.isArray(value) ? value : [value]) if (item !== undefined) headers.append(name, item);
  }
  const { accept } = request.headers;
  const types = [JSON_TYPE, STREAM_TYPE].filter((type) => accepts(accept, type));
  if (types.length > 0) headers.set('accept', types.join(', '));
  // The protocol does not use the real URL, and a client could send one that does not parse.
  return new Request('http://ringfence.invalid/mcp', { method: request.method ?? 'GET', headers, signal });
}

/** Options of `sendWebResponse`. */
export interface SendOptions {
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** The memory that the request takes. */
  readonly held: HeldBytes;
  /** What to write ahead of the body. */
  readonly before?: string | undefined;
}

/** Writes a response of the SDK, with backpressure. Stops when the client is gone. Never rejects. */
export async function sendWebResponse(
  response: ServerResponse,
  answer: Response,
  { signal, held, before }: SendOptions,
): Promise<void> {
  // The fast path may have begun the event stream before it left the request to the SDK.
  if (!response.headersSent) {
    const headers = new Headers(answer.headers);
    // The SDK asks for `keep-alive`, also where a server that is leaving has set it to `close`.
    headers.delete('connection');
    response.writeHead(answer.status, Object.fromEntries(headers));
  }
  // A stream may have no event for long, and the client waits for the headers.
  if (answer.headers.get('content-type') === 'text/event-stream') response.flushHeaders();
  if (before !== undefined) response.write(before);
  if (answer.body === null) {
    response.end();
    return;
  }
  const reader = answer.body.getReader();
  const stop = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) break;
      if (!response.write(value)) await readBy(response, value.length, held);
    }
  } catch {
    // The client is gone or the stream failed: there is nobody to report to.
  } finally {
    signal.removeEventListener('abort', stop);
    response.end();
  }
}

/** Resolves when the client has read enough of what was written. Until then, that counts as held. */
async function readBy(response: ServerResponse, bytes: number, held: HeldBytes): Promise<void> {
  const before = held.size;
  held.set(before + bytes);
  response.socket?.setTimeout(STALLED_MS);
  await drained(response);
  response.socket?.setTimeout(0);
  held.set(before);
}

/** Responds with an error that is not the SDK's, as a JSON-RPC error, without an id unless it has one. */
export function sendError(
  response: ServerResponse,
  { status, code = -32000, message, headers = {}, id = null }: HttpError,
): void {
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id });
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

/** An HTTP response with an error. */
export interface HttpError {
  readonly status: number;
  readonly message: string;
  /** The code of the JSON-RPC error; by default -32000, a server error. */
  readonly code?: number;
  readonly headers?: Record<string, string>;
  /** The id of the request, if it is known. */
  readonly id?: unknown;
}
