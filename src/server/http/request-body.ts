import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { drained } from '../../runtime/drained.ts';

/** Thrown for a request body that cannot be used, with the HTTP status to respond with. */
export class BadBody extends Error {
  readonly status: 400 | 413 | 415;

  constructor(status: 400 | 413 | 415, message: string) {
    super(message);
    this.name = 'BadBody';
    this.status = status;
  }
}

/**
 * Reads a JSON body of at most `maxBytes`. Raises `BadBody` for one that is too large, compressed or not JSON in UTF-8, and rejects
 * with another error if the client closes the connection.
 */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new BadBody(415, 'Unsupported Media Type: the body must not be compressed');
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const bytes = await bodyBytes(request, maxBytes);
  try {
    // Decoding would replace bytes that are not UTF-8 with U+FFFD, which a write would then store in a file.
    if (!isUtf8(bytes)) throw new Error('not UTF-8');
    return JSON.parse(bytes.toString('utf8', startsWithBom(bytes) ? 3 : 0));
  } catch {
    throw new BadBody(400, 'Parse error: the body is not valid JSON');
  }
}

/** Reads a body of at most `maxBytes`. Listens to events, which costs less than an async iterator. */
function bodyBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (): void => {
      request.off('data', onData).off('end', onEnd).off('error', onFailure).off('close', onFailure);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      settle();
      reject(tooLarge(maxBytes));
    };
    const onEnd = (): void => {
      settle();
      const [first, ...more] = chunks;
      resolve(first !== undefined && more.length === 0 ? first : Buffer.concat(chunks));
    };
    const onFailure = (): void => {
      settle();
      reject(new Error('the client broke off'));
    };
    request.on('data', onData).on('end', onEnd).on('error', onFailure).on('close', onFailure);
  });
}

function tooLarge(maxBytes: number): BadBody {
  return new BadBody(413, `Payload Too Large: the body must not exceed ${maxBytes} bytes`);
}

/** Tests for a byte order mark, which is not part of the text. */
function startsWithBom(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** Returns a request in the form that the SDK takes, without its body, which the SDK gets parsed. */
export function toWebRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const item of Array.isArray(value) ? value : [value]) if (item !== undefined) headers.append(name, item);
  }
  // The protocol does not use the real URL, and a client could send one that does not parse.
  return new Request('http://ringfence.invalid/mcp', { method: request.method ?? 'GET', headers, signal });
}

/** Writes a response of the SDK, with backpressure. Stops when the signal is aborted because the client is gone. Never rejects. */
export async function sendWebResponse(response: ServerResponse, answer: Response, signal: AbortSignal): Promise<void> {
  // The fast path may have begun the event stream before it left the request to the SDK.
  if (!response.headersSent) response.writeHead(answer.status, Object.fromEntries(answer.headers));
  // A stream may have no event for long, and the client waits for the headers.
  if (answer.headers.get('content-type') === 'text/event-stream') response.flushHeaders();
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
      if (!response.write(value)) await drained(response);
    }
  } catch {
    // The client is gone or the stream failed: there is nobody to report to.
  } finally {
    signal.removeEventListener('abort', stop);
    response.end();
  }
}

/** Responds with an error that is not the SDK's, as a JSON-RPC error without an id. */
export function sendError(response: ServerResponse, { status, code = -32000, message, headers = {} }: HttpError): void {
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null });
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

/** An HTTP response with an error. */
export interface HttpError {
  readonly status: number;
  readonly message: string;
  /** The code of the JSON-RPC error; by default -32000, a server error. */
  readonly code?: number;
  readonly headers?: Record<string, string>;
}
