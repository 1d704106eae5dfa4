import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressKey, type HttpLimits } from './http-limits.ts';

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
  readonly #limits: HttpLimits;
  readonly #waiting: WaitingRequest[] = [];
  /** Whose requests wait. All of a connection's count for the client that sent the one which is being answered first. */
  #waitingFor = '';
  #isBusy = false;

  constructor(socket: Socket, limits: HttpLimits) {
    this.socket = socket;
    this.address = addressKey(socket.remoteAddress ?? '');
    this.#limits = limits;
  }

  /** Whether a request is being answered. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Answers a request when it is its turn. Closes the connection if too many of its client wait already. */
  add(request: WaitingRequest): void {
    if (!this.#isBusy) {
      this.#begin(request);
      return;
    }
    if (this.#waiting.length === 0) {
      this.#waitingFor = this.client ?? this.#limits.unknownClient(this.socket.remoteAddress);
    }
    if (!this.#limits.waiting.tryTake(this.#waitingFor)) {
      stopParsing(this.socket);
      this.socket.destroy();
      return;
    }
    this.#waiting.push(request);
    // No more is read until these are answered; what has arrived already counts.
    this.socket.pause();
  }

  /** Frees the places of requests that will not be answered. */
  close(): void {
    const { length } = this.#waiting;
    if (length === 0) return;
    this.#waiting.length = 0;
    // In the next turn of the event loop, so that many connections of one client do not take the places in turn.
    setImmediate(() => this.#limits.waiting.give(this.#waitingFor, length));
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
    this.#limits.waiting.give(this.#waitingFor);
    this.#begin(next);
  };
}

/**
 * Makes Node throw away what has arrived on a connection. It would make objects even for the requests of a connection
 * that is destroyed, hundreds of them, since it parses all that it has read in one go. The only way to interrupt that
 * is to answer 2, which means “upgrade”, from this handler, which Node does not document; without it, the requests
 * only take their time.
 */
function stopParsing(socket: Socket & { parser?: { onIncoming?: unknown } | null }): void {
  if (typeof socket.parser?.onIncoming === 'function') socket.parser.onIncoming = () => 2;
}

/** The open connections, bounded in number. When there are too many, an idle one is closed. */
export class Connections {
  readonly #limits: HttpLimits;
  readonly #connections = new Map<Socket, Connection>();
  readonly #whenEmpty: (() => void)[] = [];

  constructor(limits: HttpLimits) {
    this.#limits = limits;
  }

  /** How many are open. */
  get size(): number {
    return this.#connections.size;
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
      if (this.#connections.size === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
    });
  }

  /** Resolves once there are no connections. */
  async allClosed(): Promise<void> {
    if (this.#connections.size > 0) await new Promise<void>((resolve) => this.#whenEmpty.push(resolve));
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
