import type { IncomingMessage } from 'node:http';
import type { Principals } from '../../clients/principals.ts';
import { addressKey } from '../../http/http-limits.ts';
import { RateLimiter } from '../../limits/token-bucket.ts';
import type { Viewer, Viewers } from '../model/viewers.ts';

/** Attempts that fail, from one address: ten at once, then one every six seconds. */
const FAILURES = { callsPerSecond: 1 / 6, burst: 10 };
/** A longer token is none. */
const MAX_TOKEN = 4_096;

/** Whose token it was, or why nobody is signed in with it. */
export type SignedIn =
  | { readonly viewer: Viewer }
  | { readonly refused: 'unknown' | 'not_for_console' }
  | { readonly refused: 'too_often'; readonly retryAfterSeconds: number };

/** Lets people in who have a token with `console: true`. */
export class SignIn {
  readonly #principals: Principals;
  readonly #viewers: Viewers;
  readonly #failures = new RateLimiter(FAILURES);

  constructor(principals: Principals, viewers: Viewers) {
    this.#principals = principals;
    this.#viewers = viewers;
  }

  attempt({ socket }: IncomingMessage, token: unknown): SignedIn {
    const failures = this.#failures.of(addressKey(socket.remoteAddress ?? ''));
    const retryAfterSeconds = failures.take();
    if (retryAfterSeconds > 0) return { refused: 'too_often', retryAfterSeconds };
    const isToken = typeof token === 'string' && token.length <= MAX_TOKEN;
    const principal = isToken ? this.#principals.byToken(token) : undefined;
    if (principal === undefined) return { refused: 'unknown' };
    const viewer = this.#viewers.all.find(({ key }) => key === principal.client.key);
    if (viewer === undefined) return { refused: 'not_for_console' };
    failures.putBack();
    return { viewer };
  }
}
