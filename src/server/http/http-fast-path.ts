import type { IncomingMessage, ServerResponse } from 'node:http';
import type { InFlight } from '../../runtime/in-flight.ts';
import type { Peer } from '../call/peer.ts';
import { isRecord } from '../protocol/fast/client-info.ts';
import { type FastCall, type FastPath, NEEDS_SDK } from '../protocol/fast/fast-path.ts';
import { canBeAsked, MODERN_VERSION, type PlainRequest } from '../protocol/fast/plain-request.ts';
import { LEGACY_VERSIONS } from '../protocol/fast/responses.ts';
import type { ClientDisconnect } from './client-disconnect.ts';
import { HttpReply } from './http-reply.ts';

/** One request and the way to answer it. */
interface FastRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly plain: PlainRequest;
}

interface StatelessCaller {
  readonly peer: Peer;
  readonly disconnect: ClientDisconnect;
}

/** What the lane has to know of a session. */
interface FastSession {
  readonly transport: { readonly sessionId?: string };
  readonly peer: Peer;
  readonly calls: InFlight<FastCall>;
}

/** Plain requests over HTTP, answered in the form that the SDK would answer them in. */
export class HttpFastPath {
  readonly #fastPath: FastPath;

  constructor(fastPath: FastPath) {
    this.#fastPath = fastPath;
  }

  /** Answers a request of 2026-07-28. False if it is for the SDK, and nothing was sent. */
  async modern({ request, response, plain }: FastRequest, { peer, disconnect }: StatelessCaller): Promise<boolean> {
    if (!isPlainStatelessPost(request, plain)) return false;
    // Progress turns the answer into a stream, in which the SDK could not go on.
    if (plain.progressToken !== undefined && canBeAsked(plain)) return false;
    const exchange = new HttpReply(response, { stream: false });
    if (disconnect.hasHappened) return exchange.end(undefined);
    const reply = this.#fastPath.reply(plain);
    if (reply !== undefined) return exchange.end(reply);
    const call = this.#fastPath.call(plain, { peer, notify: (json) => exchange.notify(json) });
    if (call === undefined) return false;
    // A client of this revision cancels a call by going away.
    disconnect.listener = () => call.cancel();
    const answer = await call.answer;
    disconnect.listener = undefined;
    return answer !== NEEDS_SDK && exchange.end(answer);
  }

  /** Answers a request in a session, whose stream may be lost without the call being cancelled. False as above. */
  async inSession(
    { request, response, plain }: FastRequest,
    { transport, peer, calls }: FastSession,
  ): Promise<boolean> {
    if (!isPlainSessionPost(request)) return false;
    const exchange = new HttpReply(response, { stream: true, sessionId: transport.sessionId });
    const reply = this.#fastPath.reply(plain);
    if (reply !== undefined) return exchange.end(reply);
    const call = this.#fastPath.call(plain, { peer, notify: (json) => exchange.notify(json) });
    if (call === undefined) return false;
    calls.add(call);
    exchange.keepAlive();
    const answer = await call.answer;
    calls.delete(call);
    if (answer !== NEEDS_SDK) return exchange.end(answer);
    exchange.handOver();
    return false;
  }
}

/** Cancels the call of a session that a notification is about. */
export function cancelCall({ calls }: Pick<FastSession, 'calls'>, message: unknown): void {
  if (calls.size === 0 || !isRecord(message) || message.method !== 'notifications/cancelled') return;
  const { requestId } = isRecord(message.params) ? message.params : {};
  calls.find(({ id }) => id === requestId)?.cancel();
}

/** The headers have to say the same as the body. */
function isPlainStatelessPost({ headers }: IncomingMessage, { method, params }: PlainRequest): boolean {
  return (
    headers['content-type'] === JSON_TYPE &&
    headers['mcp-protocol-version'] === MODERN_VERSION &&
    headers['mcp-method'] === method &&
    (method !== 'tools/call' || headers['mcp-name'] === params.name) &&
    !String(headers['mcp-name']).startsWith(ENCODED)
  );
}

function isPlainSessionPost({ headers }: IncomingMessage): boolean {
  const { accept, 'mcp-protocol-version': version } = headers;
  return (
    headers['content-type'] === JSON_TYPE &&
    accept?.includes(JSON_TYPE) === true &&
    accept.includes('text/event-stream') &&
    (version === undefined || (LEGACY_VERSIONS as readonly unknown[]).includes(version))
  );
}

const JSON_TYPE = 'application/json';
/** How a header begins whose value is written in another way. */
const ENCODED = '=?';
