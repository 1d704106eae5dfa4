import type { RedisConnection } from './redis-connection.ts';
import type { StoreProblem, Unsubscribe } from './shared-store.ts';

type Listener = (message: string) => void;

/**
 * The channels that this process is subscribed to. They have a connection of their own, made when it is first needed,
 * because a connection with a subscription can send no other commands. After a loss the channels are subscribed to
 * again.
 */
export class Subscriptions {
  readonly #connect: () => RedisConnection;
  readonly #listeners = new Map<string, Set<Listener>>();
  #connection: RedisConnection | undefined;

  constructor(connect: () => RedisConnection) {
    this.#connect = connect;
  }

  /** Why messages may not arrive at present; undefined if they do. */
  get problem(): StoreProblem | undefined {
    return this.#connection?.problem;
  }

  /** Subscribes to a channel. If that is not possible at present, it happens as soon as it is. */
  async add(channel: string, listener: Listener): Promise<Unsubscribe> {
    // The same function may be subscribed twice.
    const own: Listener = (message) => listener(message);
    const listeners = this.#listeners.get(channel) ?? new Set<Listener>();
    this.#listeners.set(channel, listeners.add(own));
    const connection = this.#connected();
    await connection.run((redis) => redis.subscribe(channel)).catch(() => {});
    return async () => {
      if (!listeners.delete(own) || listeners.size > 0) return;
      this.#listeners.delete(channel);
      await connection.run((redis) => redis.unsubscribe(channel)).catch(() => {});
    };
  }

  close(): void {
    this.#connection?.close();
  }

  #connected(): RedisConnection {
    if (this.#connection === undefined) {
      this.#connection = this.#connect();
      this.#connection.onMessage((channel, message) => {
        for (const listener of this.#listeners.get(channel) ?? []) listener(message);
      });
      this.#connection.onReady(async (redis) => {
        if (this.#listeners.size > 0) await redis.subscribe(...this.#listeners.keys());
      });
    }
    return this.#connection;
  }
}
