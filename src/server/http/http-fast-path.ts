import type { IncomingMessage, ServerResponse } from 'node:http';
import type { InFlight } from '../call/in-flight.ts';
import type { Peer } from '../call/peer.ts';
import { type FastCall, type FastPath, NEEDS_SDK } from '../protocol/fast/fast-path.ts';
import { canBeAsked, isRecord, MODERN_VERSION, type PlainRequest } from '../protocol/fast/plain-request.ts';
import { LEGACY_VERSIONS } from '../protocol/fast/responses.ts';
import type { ClientDisconnect } from './client-disconnect.ts';
import { HttpReply } from './http-reply.ts';

const JSON_TYPE = 'application/json';
/** The prefix of a header value in MIME encoded words (RFC 2047), which only the SDK decodes. */
const ENCODED_WORD = '=?';

/** A plain request over HTTP. */
interface PlainPost {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly plain: PlainRequest;
}

/** Who sent a request outside of a session. */
interface StatelessCaller {
  readonly peer: Peer;
  readonly disconnect: ClientDisconnect;
}

/** The part of a session that calls on the fast path need. */
interface FastSession {
  readonly transport: { readonly sessionId?: string };
  readonly peer: Peer;
  readonly calls: InFlight<FastCall>;
}

/** Answers plain requests over HTTP in the form in which the SDK would answer them. */
export class HttpFastPath {
  readonly #fastPath: FastPath;

  constructor(fastPath: FastPath) {
    this.#fastPath = fastPath;
  }

  /** Answers a request of 2026-07-28. Returns false, having sent nothing, if the request is for the SDK. */
  async answerStateless(
    { request, response, plain }: PlainPost,
    { peer, disconnect }: StatelessCaller,
  ): Promise<boolean> {
    if (!isPlainStatelessPost(request, plain)) return false;
    // Progress turns the response into a stream, in which the SDK could not go on.
    if (plain.progressToken !== undefined && canBeAsked(plain)) return false;
    const reply = new HttpReply(response, { stream: false });
    if (disconnect.hasHappened) return reply.end(undefined);
    const immediate = this.#fastPath.reply(plain);
    if (immediate !== undefined) return reply.end(immediate);
    const call = this.#fastPath.call(plain, { peer, notify: (json) => reply.notify(json) });
    if (call === undefined) return false;
    // A client of this revision cancels a call by closing the connection.
    disconnect.listener = () => call.cancel();
    const json = await call.response;
    disconnect.listener = undefined;
    return json !== NEEDS_SDK && reply.end(json);
  }

  /**
   * Answers a request in a session, whose stream may break without the call being cancelled. Returns false if the request is for
   * the SDK.
   */
  async answerInSession(
    { request, response, plain }: PlainPost,
    { transport, peer, calls }: FastSession,
  ): Promise<boolean> {
    if (!isPlainSessionPost(request)) return false;
    const reply = new HttpReply(response, { stream: true, sessionId: transport.sessionId });
    const immediate = this.#fastPath.reply(plain);
    if (immediate !== undefined) return reply.end(immediate);
    const call = this.#fastPath.call(plain, { peer, notify: (json) => reply.notify(json) });
    if (call === undefined) return false;
    calls.add(call);
    reply.keepAlive();
    const json = await call.response;
    calls.delete(call);
    if (json !== NEEDS_SDK) return reply.end(json);
    reply.handOver();
    return false;
  }
}

/** Cancels the call of a session that a `notifications/cancelled` names, if it runs on the fast path. */
export function cancelCall({ calls }: Pick<FastSession, 'calls'>, message: unknown): void {
  if (calls.size === 0 || !isRecord(message) || message.method !== 'notifications/cancelled') return;
  const { requestId } = isRecord(message.params) ? message.params : {};
  calls.find(({ id }) => id === requestId)?.cancel();
}

/** Tests whether the headers say what the body says, as 2026-07-28 demands. */
function isPlainStatelessPost({ headers }: IncomingMessage, { method, params }: PlainRequest): boolean {
  return (
    headers['content-type'] === JSON_TYPE &&
    headers['mcp-protocol-version'] === MODERN_VERSION &&
    headers['mcp-method'] === method &&
    (method !== 'tools/call' || headers['mcp-name'] === params.name) &&
    !String(headers['mcp-name']).startsWith(ENCODED_WORD)
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
