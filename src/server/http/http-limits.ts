import { isIPv6 } from 'node:net';
import { openFileLimit } from '../../config/program/open-file-limit.ts';
import type { Principal, Principals } from '../clients/principals.ts';
import type { ClientLimits } from '../limits/client-limits.ts';
import { FairPool } from '../limits/fair-pool.ts';
import { HeldBytes } from '../limits/held-bytes.ts';
import type { RateLimiter } from '../limits/token-bucket.ts';
import type { HttpError } from './sdk-response.ts';

/** The most connections, whatever the limit of open files: each takes some 50 KB. */
const MAX_CONNECTIONS = 4_096;
/**
 * Descriptors that the process itself needs, for example while its threads load their modules, and the fewest
 * connections.
 */
const OWN_FILES = 128;
const MIN_CONNECTIONS = 32;
/** Connections that no running request may take, so that somebody can always connect and ask for `/health`. */
const SPARE_CONNECTIONS = 16;
/** How many requests wait for the scheduler at once. */
const SCHEDULED = 4;
/**
 * What a running call takes at most while it makes its result: half of the largest one, of which the other half is made
 * at the end.
 */
const CALL_BYTES = 4 * 1024 * 1024;
/** What a request takes that waits for those before it on its connection: Node's objects and what has arrived of it. */
const WAITING_BYTES = 32 * 1024;
/**
 * The parts of the memory for running calls, for bodies and unread answers, and for requests that wait. The rest is for
 * what is not counted.
 */
const CALLS_PART = 1 / 2;
const BYTES_PART = 5 / 16;
const WAITING_PART = 1 / 16;

/** Responds to a client that takes its full share already. Others are not affected. */
export const SHARE_TAKEN: HttpError = {
  status: 503,
  message: 'Service Unavailable: this client has too much under way at once; retry in 2 seconds',
  headers: { 'retry-after': '2', connection: 'close' },
};

/** Options of `HttpLimits`. */
export interface HttpLimitsOptions {
  /** The memory in bytes that requests may take in all. */
  readonly memory: number;
  readonly maxConnections?: number | undefined;
  readonly principals: Principals | undefined;
  readonly rates: RateLimiter | undefined;
}

/** What all requests over HTTP share. A client is a principal, or an address where no tokens are configured. */
export class HttpLimits {
  readonly maxConnections: number;
  /** Requests that are being answered, each on a connection of its own. */
  readonly requests: FairPool;
  /** Event streams that stay open, which are requests too. */
  readonly streams: FairPool;
  /** Requests that wait for the scheduler, which knows no clients. The others wait here, where clients take turns. */
  readonly turns: FairPool;
  /** Requests that wait for those before them on their connections. */
  readonly waiting: FairPool;
  /** How many clients share; undefined if anyone may come. */
  readonly clients: number | undefined;
  readonly #calls: FairPool;
  readonly #bytes: FairPool;
  readonly #rates: RateLimiter | undefined;

  constructor({ memory, maxConnections = connectionsFor(openFileLimit()), principals, rates }: HttpLimitsOptions) {
    const clients = principals?.size;
    const requests = Math.max(1, maxConnections - SPARE_CONNECTIONS);
    this.clients = clients;
    this.maxConnections = maxConnections;
    this.requests = new FairPool({ size: requests, clients });
    this.streams = new FairPool({ size: Math.ceil(requests / 2), clients });
    this.turns = new FairPool({ size: SCHEDULED, clients });
    // Those of nobody with a token count as one more client.
    this.waiting = new FairPool({
      size: Math.floor((memory * WAITING_PART) / WAITING_BYTES),
      clients: clients === undefined ? undefined : clients + 1,
    });
    this.#calls = new FairPool({ size: Math.floor((memory * CALLS_PART) / CALL_BYTES), clients });
    this.#bytes = new FairPool({ size: Math.floor(memory * BYTES_PART), clients });
    this.#rates = rates;
  }

  /** Returns what limits the calls of a client: a principal, or the client at an address, by its `addressKey`. */
  of(principal: Principal | undefined, address: string): ClientLimits {
    const key = principal?.client.key ?? address;
    return { key, rate: this.#rates?.of(key), calls: this.#calls };
  }

  /** Returns the name of whoever has not sent an admitted request: all are one client where tokens are configured. */
  unknownClient(address: string | undefined): string {
    return this.clients === undefined ? addressKey(address ?? '') : 'unknown';
  }

  /** The memory in bytes that bodies and unread answers take. */
  get heldBytes(): number {
    return this.#bytes.total;
  }

  /** Returns an account of the memory that a request of a client takes. */
  holdFor(client: string): HeldBytes {
    return new HeldBytes(this.#bytes, client);
  }
}

/** Returns how many connections leave enough descriptors for the process itself, and half of the rest for files. */
function connectionsFor(openFiles: number): number {
  return Math.min(MAX_CONNECTIONS, Math.max(MIN_CONNECTIONS, Math.floor((openFiles - OWN_FILES) / 2)));
}

/**
 * Returns the name of the client at an address. A network of IPv6 has 2^64 addresses for each client, so only the
 * network counts.
 */
export function addressKey(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return `address:${address.replace(/^::ffff:/, '')}`;
  const [head = '', tail = ''] = address.split('%', 1)[0]?.split('::', 2) ?? [];
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const zeros = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...groups(tail)];
  return `address:${all.slice(0, 4).join(':')}::/64`;
}
