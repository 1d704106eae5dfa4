import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HeldBytes } from '../limits/held-bytes.ts';
import { addressKey, type HttpLimits } from './http-limits.ts';

/** What a request takes that waits for its turn on a connection: Node's objects for it and its headers. */
const WAITING_BYTES = 16 * 1024;

interface WaitingRequest {
  readonly response: ServerResponse;
  answer(): void;
}

/**
 * A connection, whose requests are answered one after another: the next one begins when the answer before it has been
 * handed to the system. Node would begin them all, and keep all answers until the client reads them.
 */
class Connection {
  readonly socket: Socket;
  /** The client at the other end, by its address: see `addressKey`. */
  readonly address: string;
  /** The client of the last request that was admitted; undefined before the first. */
  client: string | undefined;
  lastUsed = performance.now();
  readonly #held: HeldBytes;
  readonly #waiting: WaitingRequest[] = [];
  #isBusy = false;

  constructor(socket: Socket, limits: HttpLimits) {
    this.socket = socket;
    this.address = addressKey(socket.remoteAddress ?? '');
    this.#held = limits.holdFor(this.address);
  }

  /** Whether a request is being answered. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Answers a request when it is its turn. */
  add(request: WaitingRequest): void {
    if (!this.#isBusy) {
      this.#begin(request);
      return;
    }
    this.#waiting.push(request);
    // No more is read until these are answered; what has arrived already counts.
    this.socket.pause();
    if (!this.#held.tryGrow(WAITING_BYTES)) this.socket.destroy();
  }

  /** Frees what was held for requests that will not be answered. */
  close(): void {
    this.#waiting.length = 0;
    this.#held.set(0);
  }

  #begin({ response, answer }: WaitingRequest): void {
    this.#isBusy = true;
    answer();
    // Last, so that what the request took is free again when the next one begins.
    response.once('close', this.#next);
  }

  readonly #next = (): void => {
    this.#isBusy = false;
    this.lastUsed = performance.now();
    // The answers of a closed connection would never end.
    const next = this.socket.destroyed ? undefined : this.#waiting.shift();
    if (next === undefined) {
      if (this.socket.isPaused()) this.socket.resume();
      return;
    }
    this.#held.set(this.#held.size - WAITING_BYTES);
    this.#begin(next);
  };
}

/** The open connections, bounded in number. When there are too many, an idle one is closed. */
export class Connections {
  readonly #limits: HttpLimits;
  readonly #connections = new Map<Socket, Connection>();

  constructor(limits: HttpLimits) {
    this.#limits = limits;
  }

  /** Adds a connection. If there are too many, closes an idle one, or this one if all are busy. */
  add(socket: Socket): void {
    if (this.#connections.size >= this.#limits.maxConnections && !this.#closeIdle()) {
      socket.destroy();
      return;
    }
    const connection = new Connection(socket, this.#limits);
    this.#connections.set(socket, connection);
    socket.once('close', () => {
      this.#connections.delete(socket);
      connection.close();
    });
  }

  /** Answers a request when those before it on the same connection are answered. */
  inTurn({ socket }: IncomingMessage, response: ServerResponse, answer: () => void): void {
    this.#connections.get(socket)?.add({ response, answer });
  }

  /** Returns the `addressKey` of the client that sent a request. */
  addressOf({ socket }: IncomingMessage): string {
    return this.#connections.get(socket)?.address ?? addressKey(socket.remoteAddress ?? '');
  }

  /** Notes whose connection it is. */
  assign({ socket }: IncomingMessage, client: string): void {
    const connection = this.#connections.get(socket);
    if (connection !== undefined) connection.client = client;
  }

  /**
   * Closes the idle connection that was not used for longest, of the client that has most of them, and reports whether
   * there was one. Those that have not sent a request that was admitted count as one client's.
   */
  #closeIdle(): boolean {
    const idle = new Map<string | undefined, Connection[]>();
    for (const connection of this.#connections.values()) {
      if (connection.isBusy) continue;
      const others = idle.get(connection.client);
      if (others === undefined) idle.set(connection.client, [connection]);
      else others.push(connection);
    }
    const most = [...idle.values()].reduce<Connection[]>((a, b) => (a.length >= b.length ? a : b), []);
    const [first, ...rest] = most;
    if (first === undefined) return false;
    rest.reduce((a, b) => (a.lastUsed <= b.lastUsed ? a : b), first).socket.destroy();
    return true;
  }
}
