import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ClientCapabilities } from '@modelcontextprotocol/server';
import { capabilitiesFrom, featuresOf } from './client-features.ts';
import { SigningKeys } from './signing-keys.ts';

/** Whose session it is, and at which endpoint. */
export interface SessionScope {
  /** The key of the principal that opened it; undefined where no tokens are configured. */
  readonly principal: string | undefined;
  /** The name of the dialect. */
  readonly dialect: string;
}

/** What a client said of itself when it opened a session, as far as it matters later. */
export interface SessionClient {
  readonly protocolVersion: string;
  readonly name: string;
  readonly capabilities: ClientCapabilities;
}

/** What a session id says. */
export interface SessionClaims extends SessionClient {
  /** When it was issued, in milliseconds since 1970. */
  readonly issuedAt: number;
}

/** The form of the ids. A later form has another one, so that an id is never read as what it is not. */
const VERSION = '1';
/** No id is longer: it has at most `MAX_NAME` characters of the client's choice. */
const MAX_ID_LENGTH = 1024;
const MAX_NAME = 64;
const MAX_VERSION = 16;
const NONCE_BYTES = 12;
/** How much of the hash that stands for the scope is in an id. */
const SCOPE_LENGTH = 22;

/** The parts of an id, in this order, as JSON. */
type Payload = readonly [
  nonce: string,
  issuedAt: number,
  scope: string,
  protocolVersion: string,
  name: string,
  features: readonly string[],
];

/**
 * Issues and checks the ids of sessions. An id says all that it takes to go on with its session in another process:
 * `1.PAYLOAD.MAC`, where the payload is JSON and the MAC an HMAC-SHA256 of what is before it, both in base64url. It is
 * signed, not encrypted, and holds nothing that its client does not know. It is a credential: log its `digest` instead.
 */
export class SessionIds {
  readonly #keys: readonly [Buffer, ...Buffer[]];

  constructor(keys = new SigningKeys()) {
    this.#keys = keys.for('session id');
  }

  /** Returns a new id. */
  issue(scope: SessionScope, { protocolVersion, name, capabilities }: SessionClient, now = Date.now()): string {
    const payload: Payload = [
      randomBytes(NONCE_BYTES).toString('base64url'),
      now,
      hashOf(scope),
      protocolVersion.slice(0, MAX_VERSION),
      name.slice(0, MAX_NAME).toWellFormed(),
      featuresOf(capabilities),
    ];
    const signed = `${VERSION}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`;
    return `${signed}.${macOf(signed, this.#keys[0]).toString('base64url')}`;
  }

  /** Returns what an id says; undefined for one that was not issued here, or for another scope. */
  verify(id: string, scope: SessionScope): SessionClaims | undefined {
    if (id.length > MAX_ID_LENGTH) return undefined;
    const end = id.lastIndexOf('.');
    const signed = id.slice(0, Math.max(0, end));
    const mac = Buffer.from(id.slice(end + 1), 'base64url');
    // The spelling has to be the canonical one, or several ids would stand for one session.
    const isCanonical = mac.toString('base64url') === id.slice(end + 1);
    const isSigned = this.#keys.filter((key) => equal(macOf(signed, key), mac)).length > 0;
    if (!isCanonical || !isSigned) return undefined;
    const [version, payload = ''] = signed.split('.');
    // A replica that was updated already may issue another form.
    if (version !== VERSION) return undefined;
    const [, issuedAt, of, protocolVersion, name, features] = JSON.parse(
      Buffer.from(payload, 'base64url').toString(),
    ) as Payload;
    if (of !== hashOf(scope)) return undefined;
    return { issuedAt, protocolVersion, name, capabilities: capabilitiesFrom(features) };
  }
}

/**
 * Returns what stands for an id where the id itself must not be shown: it can be computed from the id, but not the id
 * from it.
 */
export function digestOf(id: string): string {
  return createHash('sha256').update(`session ${id}`).digest('hex').slice(0, 32);
}

function hashOf({ principal, dialect }: SessionScope): string {
  const scope = JSON.stringify([principal ?? null, dialect]);
  return createHash('sha256').update(scope).digest('base64url').slice(0, SCOPE_LENGTH);
}

function macOf(signed: string, key: Buffer): Buffer {
  return createHmac('sha256', key).update(signed).digest();
}

function equal(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
