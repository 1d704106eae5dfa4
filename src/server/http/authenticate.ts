import type { IncomingMessage } from 'node:http';
import type { Principal, Principals } from '../call/principals.ts';
import type { HttpError } from './web.ts';

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
