import { AsyncLocalStorage } from 'node:async_hooks';
import { randomInt } from 'node:crypto';
import {
  type HandleRequestOptions,
  type JSONRPCMessage,
  type RequestId,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { InFlight } from '../call/running/in-flight.ts';
import type { Peer } from '../clients/peer.ts';
import type { Principal } from '../clients/principals.ts';
import type { ClientLimits } from '../limits/client-limits.ts';
import type { FastCall } from '../protocol/fast/fast-path.ts';
import type { ReplicaRelay } from '../sessions/replica-relay.ts';
import { digestOf } from '../sessions/session-id.ts';
import type { LivingSession } from '../sessions/session-lives.ts';
import { RETRY_MS } from './http-reply.ts';
import { type ReplayBudget, ReplayBuffer } from './replay-buffer.ts';

/** The streams of a session are numbered from a random number below this one. */
const MAX_FIRST_STREAM = 2 ** 40;

/** A session that is open in this process. */
export interface HttpSession extends LivingSession {
  readonly id: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly peer: Peer;
  /** Calls that run on the fast path. They are cancelled when the session is closed. */
  readonly calls: InFlight<FastCall>;
  /** The latest messages to the client, to send again if they did not arrive. */
  readonly replay: ReplayBuffer;
  /** The key of the principal that alone may use it; undefined where no tokens are configured. */
  readonly owner: string | undefined;
  /** The number of requests being answered, including open event streams. */
  open: number;
  lastUsed: number;
}

/** A session for which a server is made. */
export interface NewSession {
  readonly owner: Principal | undefined;
  readonly limits: ClientLimits | undefined;
  /** The name of the program. */
  readonly clientName: string;
  /** Stands for the id of the session. It is the same wherever and whenever the session goes on. */
  readonly digest: string;
}

/**
 * Makes the SDK server and the peer of a session. The server's `onclose` is called when the session is closed here, for
 * any reason.
 */
export type NewSessionServer = (session: NewSession) => { readonly server: Server; readonly peer: Peer };

/** What a session is made of. */
export interface SessionParts extends Omit<NewSession, 'digest'> {
  readonly id: string;
  readonly newServer: NewSessionServer;
  readonly replayBudget: ReplayBudget;
  /** Undefined if this server has no replicas. */
  readonly relay: ReplicaRelay | undefined;
  /** Called when the SDK has accepted the `initialize`. */
  readonly onInitialized: (session: HttpSession) => void;
  /** Called once when the session is closed, for any reason. */
  readonly onClose: (session: HttpSession) => void;
}

/** Opens a session and connects it to an SDK server of its own. It is in use by one request. */
export async function connectSession(parts: SessionParts): Promise<HttpSession> {
  const { id, owner, limits, clientName, newServer, replayBudget, relay, onInitialized, onClose } = parts;
  const digest = digestOf(id);
  const { server, peer } = newServer({ owner, limits, clientName, digest });
  const requests: RequestContext = new AsyncLocalStorage();
  const replay = new ReplayBuffer(replayBudget, {
    before: randomInt(MAX_FIRST_STREAM),
    replica: relay?.id,
    currentRequest: () => requests.getStore(),
  });
  const options = {
    eventStore: replay,
    retryInterval: RETRY_MS,
    sessionIdGenerator: () => id,
    onsessioninitialized: () => onInitialized(session),
  };
  const transport =
    relay === undefined
      ? new WebStandardStreamableHTTPServerTransport(options)
      : new RelayedTransport(options, relay, requests);
  const now = performance.now();
  const session: HttpSession = {
    id,
    digest,
    transport,
    peer,
    calls: new InFlight(),
    replay,
    owner: owner?.client.key,
    open: 1,
    lastUsed: now,
    checkedAt: now,
    notedAt: now,
  };
  const { onclose } = server;
  server.onclose = () => {
    onClose(session);
    for (const call of session.calls.all()) call.cancel();
    replay.close();
    onclose?.();
  };
  await server.connect(transport);
  return session;
}

/** Changes the number of requests that a session answers. */
export function touch(session: HttpSession, change: 1 | -1): void {
  session.open += change;
  session.lastUsed = performance.now();
}

/** The request that is being answered; undefined for several in a batch. */
type RequestContext = AsyncLocalStorage<RequestId | undefined>;

/** A transport whose client may answer to another replica, and come back there if it loses its connection. */
class RelayedTransport extends WebStandardStreamableHTTPServerTransport {
  readonly #relay: ReplicaRelay;
  readonly #requests: RequestContext;

  constructor(
    options: ConstructorParameters<typeof WebStandardStreamableHTTPServerTransport>[0],
    relay: ReplicaRelay,
    requests: RequestContext,
  ) {
    super(options);
    this.#relay = relay;
    this.#requests = requests;
  }

  override handleRequest(request: Request, options?: HandleRequestOptions): Promise<Response> {
    return this.#requests.run(requestIdOf(options?.parsedBody), () => super.handleRequest(request, options));
  }

  override send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId }): Promise<void> {
    const isResponse = 'id' in message && !('method' in message);
    const request = isResponse ? message.id : options?.relatedRequestId;
    // Else it is for the standalone stream, or for that of another request.
    const isOfCurrent = request !== undefined && request === this.#requests.getStore();
    const tagged = this.#relay.tag(message);
    return this.#requests.run(isOfCurrent ? request : undefined, () => super.send(tagged, options));
  }
}

function requestIdOf(body: unknown): RequestId | undefined {
  const { id, method } = (body ?? {}) as { readonly id?: unknown; readonly method?: unknown };
  return method !== undefined && (typeof id === 'string' || typeof id === 'number') ? id : undefined;
}
