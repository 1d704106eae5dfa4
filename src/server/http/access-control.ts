import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';
import type { Principal, Principals } from '../call/principals.ts';
import type { HttpError } from './web.ts';

/**
 * Why a request must come from a web page that has no business here, or undefined. A browser always sends `Origin` with a
 * POST; programs do not. A server that only this machine can reach also insists on being called by a loopback name, since a
 * page can make its own name resolve to 127.0.0.1 (DNS rebinding).
 */
export function foreignCaller({ headers }: IncomingMessage, loopbackOnly: boolean): string | undefined {
  if (headers.origin !== undefined && !isLoopbackOrigin(headers.origin)) return `origin not allowed: ${headers.origin}`;
  if (loopbackOnly && !isLoopbackHost(headers.host ?? '')) return `host not allowed: ${headers.host ?? ''}`;
  return undefined;
}

/** Whether an address to bind to can be reached from this machine only. */
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

/** As a URL writes it: IPv6 in brackets. All of 127.0.0.0/8 is loopback. */
function isLoopbackName(name: string): boolean {
  return name.toLowerCase() === 'localhost' || name === '[::1]' || (isIPv4(name) && name.startsWith('127.'));
}

/** Finds out who sends a request, by its `Authorization` header alone; else returns the error to answer with. */
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
