import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendError } from './sdk-response.ts';

/** Whether the server takes requests, for a balancer that asks before it sends some. */
export interface Readiness {
  readonly ready: boolean;
  /** What the server goes on without, such as a store that cannot be reached. */
  readonly missing: readonly string[];
}

/** Answers `/health`: the process is alive. */
export function answerHealth(request: IncomingMessage, response: ServerResponse): void {
  answerProbe(request, response, { status: 200, type: 'text/plain', body: 'ok' });
}

/** Answers `/ready`: 200 if the server takes requests, else 503. */
export function answerReady(request: IncomingMessage, response: ServerResponse, readiness: Readiness): void {
  const status = readiness.ready ? 200 : 503;
  answerProbe(request, response, { status, type: 'application/json', body: JSON.stringify(readiness) });
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Answers GET and HEAD, and refuses other methods. */
export function answerProbe({ method }: IncomingMessage, response: ServerResponse, answer: Answer): void {
  if (method !== 'GET' && method !== 'HEAD') {
    sendError(response, { status: 405, message: 'Method not allowed', headers: { allow: 'GET, HEAD' } });
    return;
  }
  const { status, type, body } = answer;
  response
    .writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body), 'cache-control': 'no-store' })
    .end(method === 'HEAD' ? undefined : body);
}
