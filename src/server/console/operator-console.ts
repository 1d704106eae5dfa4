import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallObserver } from '../../audit/record-call.ts';
import type { Config } from '../../config/config.ts';
import type { Approvals } from '../confirm/approve.ts';
import type { Route } from '../http/route.ts';
import { type ConsoleSession, ConsoleSessions, cookieFor, endedCookie } from './access/console-sessions.ts';
import { isFromConsole, pageKey } from './access/same-origin.ts';
import { SignIn } from './access/sign-in.ts';
import { ConsoleApi } from './api.ts';
import { ApprovalQueue } from './live/approval-queue.ts';
import { CallRecorder } from './live/call-recorder.ts';
import { EventStreams } from './live/event-streams.ts';
import { RunningList } from './live/running-list.ts';
import { SharedApprovals } from './live/shared-approvals.ts';
import { type Viewer, Viewers } from './model/viewers.ts';
import type { ServedState } from './server-state.ts';
import { Refusal, readObject, sendJson, sendRefusal, setSecurityHeaders } from './web/replies.ts';
import { StaticFiles } from './web/static-files.ts';

const PATH = '/console';
const API = '/api/';

/** A page for operators. It remembers calls from its making on, and is served by its route. */
export class OperatorConsole {
  readonly observer: CallObserver;
  readonly approvals: Approvals;
  readonly #queue: ApprovalQueue;
  readonly #recorder: CallRecorder;
  readonly #viewers: Viewers;
  #shared: SharedApprovals | undefined;
  #config: Config;

  constructor(config: Config) {
    this.#config = config;
    this.#viewers = new Viewers(config);
    this.#recorder = new CallRecorder(this.#viewers);
    this.#queue = new ApprovalQueue(this.#viewers);
    this.observer = this.#recorder.observe;
    this.approvals = this.#queue;
  }

  /** Replaces the config, which decides what people see from their next request on. */
  replace(config: Config): void {
    this.#config = config;
    this.#viewers.replace(config);
  }

  /** Tells other replicas nothing more. Call it once no call is running. */
  close(): void {
    this.#shared?.close();
  }

  /** Returns what serves the page and answers its requests. Call it once. */
  route(served: ServedState): Route {
    const { principals, store } = served.shared;
    // Without tokens, anyone could agree to anything here, an agent to its own calls among others.
    if (principals === undefined) return { path: PATH, handle: sendSetUp };
    const running = new RunningList(served.shared.running);
    this.#shared = store && new SharedApprovals(this.#queue, this.#viewers, store);
    const sources = { recorder: this.#recorder, approvals: this.#shared ?? this.#queue, running };
    return new ConsoleRoute({
      viewers: this.#viewers,
      signIn: new SignIn(principals, this.#viewers),
      api: new ConsoleApi({ ...served, ...sources, config: () => this.#config }),
      streams: new EventStreams(sources),
    });
  }
}

interface RouteParts {
  readonly viewers: Viewers;
  readonly signIn: SignIn;
  readonly api: ConsoleApi;
  readonly streams: EventStreams;
}

class ConsoleRoute implements Route {
  readonly path = PATH;
  readonly #parts: RouteParts;
  readonly #files = new StaticFiles();
  readonly #sessions = new ConsoleSessions();

  constructor(parts: RouteParts) {
    this.#parts = parts;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    setSecurityHeaders(response);
    try {
      await this.#answer(request, response);
    } catch (error) {
      if (!(error instanceof Refusal) || response.headersSent) throw error;
      // The rest of the body has to be read, or the connection could not be used again.
      request.resume();
      sendRefusal(response, error);
    }
  }

  close(): void {
    this.#parts.streams.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method } = request;
    const url = new URL(`http://console.invalid${request.url?.slice(PATH.length) || '/'}`);
    const isRead = method === 'GET' || method === 'HEAD';
    if (!isRead && method !== 'POST') throw new Refusal(405, 'method not allowed', {}, { allow: 'GET, HEAD, POST' });
    if (url.pathname.startsWith(API)) return this.#answerApi(request, response, url);
    if (!isRead || !this.#files.answer(request, response, url.pathname))
      throw new Refusal(404, 'there is nothing here');
  }

  async #answerApi(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const parts = partsOf(url.pathname.slice(API.length));
    const isPost = request.method === 'POST';
    if (isPost && !isFromConsole(request)) throw new Refusal(403, 'this request did not come from the console itself');
    if (isPost && url.pathname === `${API}sign-in`) return this.#signIn(request, response);
    const query = url.searchParams;
    const key = pageKey(request, query);
    const { session, viewer } = this.#signedIn(request, key);
    if (isPost && url.pathname === `${API}sign-out`) return this.#signOut(request, response, session);
    if (!isPost && url.pathname === `${API}events`) return this.#stream(request, response, session);
    const { api } = this.#parts;
    if (!isPost) return sendJson(response, await api.get(parts, { viewer, query, body: {} }));
    const body = await readObject(request);
    // What this person may do can have changed while the body came.
    sendJson(response, await api.post(parts, { viewer: this.#signedIn(request, key).viewer, query, body }));
  }

  /** Returns who makes a request. Raises `Refusal` if that is nobody who is signed in. */
  #signedIn(request: IncomingMessage, key: string): { readonly session: ConsoleSession; readonly viewer: Viewer } {
    const session = this.#sessions.of(request, key);
    const viewer = session && this.#viewerOf(session);
    if (session === undefined || viewer === undefined) throw new Refusal(401, 'sign in first');
    return { session, viewer };
  }

  async #signIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { token } = await readObject(request);
    const result = this.#parts.signIn.attempt(request, token);
    if ('refused' in result) {
      if (result.refused === 'too_often') {
        const seconds = Math.ceil(result.retryAfterSeconds);
        const headers = { 'retry-after': String(seconds) };
        throw new Refusal(429, `too many attempts; try again in ${seconds} seconds`, {}, headers);
      }
      if (result.refused === 'unknown') throw new Refusal(401, 'this token is not known here');
      throw new Refusal(403, 'this token is not for the console; use one that has console: true');
    }
    const { viewer } = result;
    const session = this.#sessions.open(viewer);
    response.setHeader('set-cookie', cookieFor(session, request));
    sendJson(response, { key: session.key, me: { name: viewer.name, roots: viewer.roots, may_undo: viewer.mayUndo } });
  }

  #signOut(request: IncomingMessage, response: ServerResponse, session: ConsoleSession): void {
    this.#sessions.close(session);
    this.#parts.streams.endSignedOut();
    request.resume();
    response.setHeader('set-cookie', endedCookie(request));
    sendJson(response, undefined);
  }

  #stream(request: IncomingMessage, response: ServerResponse, session: ConsoleSession): void {
    const owner = (): Viewer | undefined => (this.#sessions.isOpen(session) ? this.#viewerOf(session) : undefined);
    if (!this.#parts.streams.open(request, response, owner)) throw new Refusal(503, 'too many people watch already');
  }

  /** Returns who somebody is by now; undefined if the token is no longer one for the console. */
  #viewerOf({ viewer }: ConsoleSession): Viewer | undefined {
    return this.#parts.viewers.current(viewer);
  }
}

/** Says how to set the console up, to whoever opens it where nobody could sign in. */
function sendSetUp(_: IncomingMessage, response: ServerResponse): void {
  setSecurityHeaders(response);
  response.writeHead(403, { 'content-type': 'text/plain; charset=utf-8' }).end(SET_UP);
}

const SET_UP = `The console needs a token to sign in with, and the configuration has no tokens.

Add one for yourself and one for each agent, and start the server again:

auth:
  tokens:
    - { name: operator, token_env: RINGFENCE_CONSOLE_TOKEN, roots: [...], console: true }
    - { name: agent, token_env: RINGFENCE_AGENT_TOKEN, roots: [...] }
`;

function partsOf(path: string): string[] {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    throw new Refusal(400, 'the address is not well-formed');
  }
}
