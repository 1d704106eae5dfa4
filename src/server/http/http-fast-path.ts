import type { IncomingMessage, ServerResponse } from 'node:http';
import type { InFlight } from '../call/running/in-flight.ts';
import type { Peer } from '../clients/peer.ts';
import { type FastCall, type FastPath, NEEDS_SDK } from '../protocol/fast/fast-path.ts';
import { canBeAsked, isRecord, MODERN_VERSION, type PlainRequest } from '../protocol/fast/plain-request.ts';
import { LEGACY_VERSIONS } from '../protocol/fast/responses.ts';
import type { ClientDisconnect } from './client-disconnect.ts';
import { HttpReply } from './http-reply.ts';
import type { ReplayBuffer } from './replay-buffer.ts';
import { acceptsResponses } from './sdk-response.ts';

const JSON_TYPE = 'application/json';
/** JSON with the one charset that it may have ({@link https://www.rfc-editor.org/rfc/rfc8259#section-8.1 RFC 8259}). */
const UTF8_JSON_TYPE = /^application\/json\s*;\s*charset="?utf-8"?$/i;
/**
 * The prefix of a header value in MIME encoded words ({@link https://www.rfc-editor.org/rfc/rfc2047 RFC 2047}), which
 * only the SDK decodes.
 */
const ENCODED_WORD = '=?';

/** The first and only revision with sessions whose clients take events without data. */
const PRIMED_VERSION = '2025-11-25';

/** A POST whose body is a plain request. */
interface PlainPost {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly plain: PlainRequest;
}

/** The part of a session that the fast path uses. */
interface FastSession {
  readonly transport: { readonly sessionId?: string };
  readonly peer: Peer;
  readonly calls: InFlight<FastCall>;
  readonly replay: ReplayBuffer;
}

/** Answers plain requests over HTTP with the same status, headers and body as the SDK would. */
export class HttpFastPath {
  readonly #fastPath: FastPath;

  constructor(fastPath: FastPath) {
    this.#fastPath = fastPath;
  }

  /**
   * Answers a request of 2026-07-28, which has no session, and reports whether it did; otherwise it has sent nothing.
   */
  async answerStateless(
    { request, response, plain }: PlainPost,
    peer: Peer,
    disconnect: ClientDisconnect,
  ): Promise<boolean> {
    if (!isPlainStatelessPost(request, plain)) return false;
    // Progress makes the response an event stream, which the SDK could not take over for a question.
    if (plain.progressToken !== undefined && canBeAsked(plain)) return false;
    const reply = new HttpReply(response);
    if (disconnect.hasHappened) return reply.end(undefined);
    const immediate = this.#fastPath.reply(plain, peer);
    if (immediate !== undefined) return reply.end(immediate);
    const call = this.#fastPath.call(plain, peer, reply);
    if (call === undefined) return false;
    // In this revision, a client cancels a call by closing the connection.
    disconnect.listener = () => call.cancel();
    const json = await call.response;
    disconnect.listener = undefined;
    return json !== NEEDS_SDK && reply.end(json);
  }

  /**
   * Answers a request in a session, whose calls are cancelled by notification: a broken connection does not cancel
   * them. Returns false if the request is for the SDK; the event stream may have begun by then.
   */
  async answerInSession(
    { request, response, plain }: PlainPost,
    { transport, peer, calls, replay }: FastSession,
  ): Promise<boolean> {
    if (!isPlainSessionPost(request)) return false;
    const form = { sessionId: transport.sessionId, replay, primes: primesStreams(request), request: plain.id };
    const reply = new HttpReply(response, form);
    const immediate = this.#fastPath.reply(plain, peer);
    if (immediate !== undefined) return reply.end(immediate);
    const call = this.#fastPath.call(plain, peer, reply);
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

/** Cancels the call that a `notifications/cancelled` names, if it runs on the fast path. Ignores any other message. */
export function cancelCall({ calls }: Pick<FastSession, 'calls'>, message: unknown): void {
  if (calls.size === 0 || !isRecord(message) || message.method !== 'notifications/cancelled') return;
  const { requestId } = isRecord(message.params) ? message.params : {};
  calls.find(({ id }) => id === requestId)?.cancel();
}

function isJson(type: string | undefined): boolean {
  return type === JSON_TYPE || (type !== undefined && UTF8_JSON_TYPE.test(type));
}

/** Reports whether the headers repeat the method and tool of the body, as 2026-07-28 requires. */
function isPlainStatelessPost({ headers }: IncomingMessage, { method, params }: PlainRequest): boolean {
  return (
    isJson(headers['content-type']) &&
    headers['mcp-protocol-version'] === MODERN_VERSION &&
    headers['mcp-method'] === method &&
    (method !== 'tools/call' || headers['mcp-name'] === params.name) &&
    !String(headers['mcp-name']).startsWith(ENCODED_WORD)
  );
}

/** Reports whether the client of a session takes events without data, as from 2025-11-25 on. */
function primesStreams({ headers }: IncomingMessage): boolean {
  return headers['mcp-protocol-version'] === PRIMED_VERSION;
}

function isPlainSessionPost({ headers }: IncomingMessage): boolean {
  const { accept, 'mcp-protocol-version': version } = headers;
  return (
    isJson(headers['content-type']) &&
    acceptsResponses(accept) &&
    (version === undefined || (LEGACY_VERSIONS as readonly unknown[]).includes(version))
  );
}
