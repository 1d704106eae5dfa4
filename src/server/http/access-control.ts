import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';
import type { Principal, Principals } from '../clients/principals.ts';
import type { HttpError } from './sdk-response.ts';

/**
 * Returns why a request looks as if a foreign web page had sent it; undefined if it does not. A browser sends `Origin`
 * with every POST, other programs usually do not. A server that is bound to a loopback address also requires a loopback
 * `Host`, because a page can make its own host name resolve to 127.0.0.1
 * ({@link https://en.wikipedia.org/wiki/DNS_rebinding DNS rebinding}).
 */
export function foreignOriginProblem({ headers }: IncomingMessage, loopbackOnly: boolean): string | undefined {
  if (headers.origin !== undefined && !isLoopbackOrigin(headers.origin)) return `origin not allowed: ${headers.origin}`;
  if (loopbackOnly && !isLoopbackHost(headers.host ?? '')) return `host not allowed: ${headers.host ?? ''}`;
  return undefined;
}

/** Reports whether an address to bind to can only be reached from this machine. */
export function isLoopbackAddress(host: string): boolean {
  return host === '::1' || isLoopbackName(host);
}

function isLoopbackOrigin(origin: string): boolean {
  const scheme = /^https?:\/\//.exec(origin)?.[0];
  return scheme !== undefined && isLoopbackHost(origin.slice(scheme.length));
}

function isLoopbackHost(host: string): boolean {
  return isLoopbackName(host.replace(/:\d{1,5}$/, ''));
}

/** Reports whether the host of a URL, which has IPv6 addresses in brackets, is loopback. All of 127.0.0.0/8 is. */
function isLoopbackName(name: string): boolean {
  return name.toLowerCase() === 'localhost' || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'));
}

/** Returns the principal whose bearer token is in the `Authorization` header, else the error (401) to respond with. */
export function authenticate({ headers }: IncomingMessage, principals: Principals): Principal | HttpError {
  const token = /^bearer +([\x21-\x7e]+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (token === undefined) return unauthorized('a bearer token is required', '');
  return principals.byToken(token) ?? unauthorized('the bearer token is not known here', ', error="invalid_token"');
}

function unauthorized(problem: string, challenge: string): HttpError {
  return {
    status: 401,
    message: `Unauthorized: ${problem}`,
    headers: { 'www-authenticate': `Bearer realm="ringfence"${challenge}` },
  };
}
