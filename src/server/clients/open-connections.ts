import type { Peer } from './peer.ts';

/** A connection of a client that began with `initialize`. */
export interface OpenConnection {
  readonly peer: Peer;
  close(): Promise<void>;
}

/** The connections of clients that are open, so that those of a client that may not call any more can be closed. */
export class OpenConnections {
  readonly #open = new Set<OpenConnection>();

  /** Adds a connection. Call the result when it has ended. */
  add(connection: OpenConnection): () => void {
    this.#open.add(connection);
    return () => this.#open.delete(connection);
  }

  /** Closes all connections of a client. */
  async closeOf(client: Peer['client']): Promise<void> {
    const own = [...this.#open].filter(({ peer }) => peer.client === client);
    await Promise.allSettled(own.map((connection) => connection.close()));
  }
}
