import { randomBytes } from 'node:crypto';
import { type SharedStore, StoreUnavailable, type Unsubscribe } from '../../cluster/shared-store.ts';

/** A JSON-RPC message for a session. */
interface RelayedMessage {
  /** Stands for the id of the session. */
  readonly digest: string;
  readonly message: Readonly<Record<string, unknown>>;
  /** The replica that it came from. */
  readonly from: string;
}

type Deliver = (digest: string, message: RelayedMessage['message']) => void;

/** Makes a name for a replica, which no other one has. */
export function newReplicaId(): string {
  return randomBytes(6).toString('hex');
}

/** The id of a question as its client sees it: the replica that asks, and the number that the SDK gave it. */
const TAGGED = /^([\da-f]{12}):(\d{1,15})$/;
const EVERYONE = 'replicas';

/**
 * Passes on what a client sends to one replica but another one waits for: the answer to a question, and the
 * cancellation of a call. The ids of questions name the replica that asks, so that those of several replicas differ.
 */
export class ReplicaRelay {
  readonly #store: SharedStore;
  /** The name of this replica. */
  readonly id: string;
  readonly #subscriptions: Promise<Unsubscribe[]>;

  /** Takes the name of this replica. Calls `deliver` with what other replicas received for its sessions. */
  constructor(store: SharedStore, id: string, deliver: Deliver) {
    this.#store = store;
    this.id = id;
    const receive = (text: string): void => {
      const relayed = parseRelayed(text);
      if (relayed !== undefined && relayed.from !== this.id) deliver(relayed.digest, relayed.message);
    };
    this.#subscriptions = Promise.all([store.subscribe(this.id, receive), store.subscribe(EVERYONE, receive)]);
  }

  /** Returns a message to a client, in which the id of a question of this replica names it. */
  tag<M extends object>(message: M): M {
    const { id, method, params } = message as { id?: unknown; method?: unknown; params?: { requestId?: unknown } };
    if (typeof method !== 'string') return message;
    if (id !== undefined) return { ...message, id: `${this.id}:${id}` };
    if (method !== 'notifications/cancelled') return message;
    return { ...message, params: { ...params, requestId: `${this.id}:${params?.requestId}` } };
  }

  /**
   * Passes on the messages of a body that are for other replicas, and returns the rest; undefined if there is none.
   * Raises `StoreUnavailable` if an answer cannot be passed on.
   */
  async accept(digest: string, body: unknown): Promise<unknown> {
    if (!Array.isArray(body)) return this.#acceptOne(digest, body);
    const left: unknown[] = [];
    for (const message of body) {
      const own = await this.#acceptOne(digest, message);
      if (own !== undefined) left.push(own);
    }
    return left.length === 0 && body.length > 0 ? undefined : left;
  }

  /** Stops receiving. Does not wait for the store, which may hang. */
  close(): void {
    void this.#subscriptions.then((all) => Promise.all(all.map((unsubscribe) => unsubscribe())));
  }

  async #acceptOne(digest: string, message: unknown): Promise<unknown> {
    const { id, method } = (message ?? {}) as { readonly id?: unknown; readonly method?: unknown };
    if (method === 'notifications/cancelled') {
      // This replica may run the call itself, so that nothing is lost if the others cannot be told.
      await this.#send(EVERYONE, digest, message as RelayedMessage['message']).catch(() => {});
      return message;
    }
    const [, replica = '', number] = (method === undefined && typeof id === 'string' && TAGGED.exec(id)) || [];
    if (number === undefined) return message;
    const answer = { ...(message as object), id: Number(number) };
    if (replica === this.id) return answer;
    // A replica that is gone, or without its subscriptions for a moment, would never have the answer.
    if ((await this.#send(replica, digest, answer)) === 0) throw new StoreUnavailable('unreachable');
    return undefined;
  }

  #send(channel: string, digest: string, message: RelayedMessage['message']): Promise<number> {
    return this.#store.publish(channel, JSON.stringify({ digest, message, from: this.id } satisfies RelayedMessage));
  }
}

/** Returns what a replica has sent; undefined for anything else that somebody put on the channel. */
function parseRelayed(text: string): RelayedMessage | undefined {
  try {
    const { digest, message, from } = JSON.parse(text) ?? {};
    const isRelayed = typeof digest === 'string' && typeof from === 'string' && typeof message === 'object';
    return isRelayed && message !== null ? { digest, message, from } : undefined;
  } catch {
    return undefined;
  }
}
