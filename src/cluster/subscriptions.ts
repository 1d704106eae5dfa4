import { ChannelListeners, type Listener } from './channel-listeners.ts';
import type { RedisConnection } from './redis-connection.ts';
import type { StoreProblem, Unsubscribe } from './shared-store.ts';

/**
 * The channels that this process is subscribed to. They have a connection of their own, made when it is first needed,
 * because a connection with a subscription can send no other commands. After a loss the channels are subscribed to
 * again.
 */
export class Subscriptions {
  readonly #connect: () => RedisConnection;
  readonly #listeners = new ChannelListeners();
  #connection: RedisConnection | undefined;

  constructor(connect: () => RedisConnection) {
    this.#connect = connect;
  }

  /** The channels that messages are wanted of. */
  get channels(): readonly string[] {
    return this.#listeners.channels;
  }

  /** Why messages may not arrive at present; undefined if they do. */
  get problem(): StoreProblem | undefined {
    return this.#connection?.problem;
  }

  /** Subscribes to a channel. If that is not possible at present, it happens as soon as it is. Never rejects. */
  async add(channel: string, listener: Listener): Promise<Unsubscribe> {
    const remove = this.#listeners.add(channel, listener);
    const connection = this.#connected();
    await connection.run((redis) => redis.subscribe(channel)).catch(() => {});
    return async () => {
      if (remove()) await connection.run((redis) => redis.unsubscribe(channel)).catch(() => {});
    };
  }

  close(): void {
    this.#connection?.close();
  }

  #connected(): RedisConnection {
    if (this.#connection === undefined) {
      this.#connection = this.#connect();
      this.#connection.onMessage((channel, message) => this.#listeners.deliver(channel, message));
      this.#connection.onReady(async (redis) => {
        if (this.channels.length > 0) await redis.subscribe(...this.channels);
      });
    }
    return this.#connection;
  }
}
