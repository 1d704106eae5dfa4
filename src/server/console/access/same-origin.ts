import type { IncomingMessage } from 'node:http';

/**
 * Holds the key of the page, or anything before there is one. A page of another origin cannot send it without asking
 * first, which is refused.
 */
const HEADER = 'x-ringfence-console';

/**
 * Reports whether a request that changes something comes from the console's own page, against cross-site request forgery.
 * `Sec-Fetch-Site` is what the browser itself says; where it says nothing, as over plain HTTP, the page's origin has to be
 * the host that it asks. So it does not matter by which name people reach the console. A page on a foreign name that
 * resolves to this machine passes, too, but has no cookie: that is bound to the name.
 */
export function isFromConsole({ headers }: IncomingMessage): boolean {
  if (!headers[HEADER]) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin, host } = headers;
  return origin === undefined || (host !== undefined && /^https?:\/\/(.*)$/i.exec(origin)?.[1] === host);
}

/** Returns the key that a request of the page has: in its header, or in its address, as browsers open event streams. */
export function pageKey({ headers }: IncomingMessage, query: URLSearchParams): string {
  return String(headers[HEADER] ?? query.get('key') ?? '');
}
