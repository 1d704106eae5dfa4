import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasRoom } from './has-room.ts';

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
  const tooLarge = new BadBody(413, `Payload Too Large: the body must not exceed ${maxBytes} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop must not destroy the connection, on which the refusal still has to travel.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge;
    chunks.push(chunk);
  }
  try {
    // Bytes that are not UTF-8 must not reach a file as replacement characters.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch {
    throw new BadBody(400, 'Parse error: the body is not valid JSON');
  }
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
      if (!response.write(value)) await hasRoom(response);
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
