import type { IncomingMessage, ServerResponse } from 'node:http';

const MAX_BODY_BYTES = 64 * 1024;

/** Nothing but the page's own files may be loaded, and nobody may show the page in a frame. */
const CSP = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"],
  ...["form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"],
].join('; ');

/** Sets the headers that every answer of the console has. */
export function setSecurityHeaders(response: ServerResponse): void {
  response.setHeader('content-security-policy', CSP);
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('x-frame-options', 'DENY');
  response.setHeader('referrer-policy', 'no-referrer');
  response.setHeader('cross-origin-opener-policy', 'same-origin');
  response.setHeader('cross-origin-resource-policy', 'same-origin');
}

/** A request that is refused, with a sentence for the person who made it. */
export class Refusal extends Error {
  readonly status: number;
  readonly details: object;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, details: object = {}, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.details = details;
    this.headers = headers;
  }
}

/** Answers with JSON, or with 204 if there is nothing to say. */
export function sendJson(response: ServerResponse, value: object | undefined, status = 200): void {
  response.setHeader('cache-control', 'no-store');
  if (value === undefined) {
    response.writeHead(204).end();
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** Answers with a refusal. */
export function sendRefusal(response: ServerResponse, { status, message, details, headers }: Refusal): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendJson(response, { error: message, ...details }, status);
}

/** Reads a small JSON object. Raises `Refusal` for anything else. */
export async function readObject(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Refusal(413, 'the request is too large', {}, { connection: 'close' });
    chunks.push(chunk);
  }
  const value = parse(Buffer.concat(chunks).toString());
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new Refusal(400, 'the request must be a JSON object');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
