import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { drained } from '../../runtime/drained.ts';

/** A request body that cannot be used, with the status that says so. */
export class BadBody extends Error {
  readonly status: 400 | 413 | 415;

  constructor(status: 400 | 413 | 415, message: string) {
    super(message);
    this.name = 'BadBody';
    this.status = status;
  }
}

/** Reads a JSON body of at most so many bytes. Raises `BadBody`. */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new BadBody(415, 'Unsupported Media Type: the body must not be compressed');
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const bytes = await bodyBytes(request, maxBytes);
  try {
    // Bytes that are not UTF-8 must not reach a file as replacement characters.
    if (!isUtf8(bytes)) throw new Error('not UTF-8');
    return JSON.parse(bytes.toString('utf8', startsWithMark(bytes) ? 3 : 0));
  } catch {
    throw new BadBody(400, 'Parse error: the body is not valid JSON');
  }
}

/** All of a body of at most so many bytes. Rejects also if the client breaks off. Events are heard one by one, since an iterator costs more. */
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

/** The mark by which some programs begin a text in UTF-8. It is no part of the text. */
function startsWithMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** The request as the SDK wants it, without its body: that is handed over parsed. */
export function toWebRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const item of Array.isArray(value) ? value : [value]) if (item !== undefined) headers.append(name, item);
  }
  // The real host and query are of no use to the protocol, and a client could make them unparsable.
  return new Request('http://ringfence.invalid/mcp', { method: request.method ?? 'GET', headers, signal });
}

/** Writes what the SDK answered, chunk by chunk at the pace of the client; stops when the client goes away. */
export async function sendWebResponse(response: ServerResponse, answer: Response, signal: AbortSignal): Promise<void> {
  // A stream may have begun before the SDK was asked.
  if (!response.headersSent) response.writeHead(answer.status, Object.fromEntries(answer.headers));
  // A stream may stay silent for long, and its client waits to hear that it is open.
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
    // The client went away, or the stream broke: either way there is nobody to tell.
  } finally {
    signal.removeEventListener('abort', stop);
    response.end();
  }
}

/** An answer of ours in the form that protocol clients expect of errors. */
export function sendError(response: ServerResponse, { status, code = -32000, message, headers = {} }: HttpError): void {
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null });
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

export interface HttpError {
  readonly status: number;
  readonly message: string;
  readonly code?: number;
  readonly headers?: Record<string, string>;
}
