import type { IncomingMessage, ServerResponse } from 'node:http';
import { drained } from '../../runtime/drained.ts';

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
