import { createHash } from 'node:crypto';
import { CAPABILITIES } from '../../tools/capabilities.ts';
import { didYouMean } from '../../tools/nearest.ts';
import type { AuthConfig } from '../config.ts';
import type { Fail } from '../config-error.ts';
import { toCapabilities } from './allowed-tools.ts';
import type { ConfigFile } from './schema.ts';

/** A shorter token could be found by trying. */
const MIN_TOKEN_LENGTH = 16;

type TokenEntry = NonNullable<ConfigFile['auth']>['tokens'][number];

interface AuthCheckOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly fail: Fail;
}

/**
 * Checks the `auth` section of a config against the names of the roots, and reads tokens from the environment. Calls
 * `fail` for the first problem, with a line that names the key and never shows a token.
 */
export function checkAuth(
  { tokens }: NonNullable<ConfigFile['auth']>,
  roots: readonly string[],
  { env, fail }: AuthCheckOptions,
): AuthConfig {
  const names = new Map<string, number>();
  const hashes = new Map<string, number>();
  return {
    tokens: tokens.map((token, index) => {
      const at = `auth.tokens[${index}]`;
      if (!/^[\p{L}\p{N}_][\p{L}\p{N}\p{M}._@+-]{0,63}$/u.test(token.name)) {
        fail(
          `${at}.name ${JSON.stringify(token.name)} cannot name a token; use up to 64 letters, digits, "-", "_" and "."`,
        );
      }
      const named = names.get(token.name);
      if (named !== undefined) {
        fail(`${at}.name: duplicate token name "${token.name}", already used by auth.tokens[${named}]`);
      }
      names.set(token.name, index);
      for (const [nth, root] of token.roots.entries())
        checkRoot(root, roots, (what) => fail(`${at}.roots[${nth}]: ${what}`));
      const sha256 = hashOf(token, env, (key, what) => fail(`${at}${key}: ${what}`));
      const same = hashes.get(sha256.toString('hex'));
      if (same !== undefined) fail(`${at}: has the same token as auth.tokens[${same}]; give each its own`);
      hashes.set(sha256.toString('hex'), index);
      const tools = token.tools?.flatMap((tool, nth) =>
        toCapabilities(tool, CAPABILITIES, (what) => fail(`${at}.tools[${nth}]: ${what('')}`)),
      );
      return {
        name: token.name,
        sha256,
        roots: token.roots,
        ...(tools && { tools }),
        ...(token.undo && { undo: token.undo }),
        ...(token.console && { console: true }),
      };
    }),
  };
}

function checkRoot(root: string, known: readonly string[], fail: Fail): void {
  if (known.includes(root)) return;
  fail(`unknown root "${root}"${didYouMean(root, known)}; known are ${known.join(', ')}`);
}

function hashOf(
  { token_env, sha256 }: TokenEntry,
  env: NodeJS.ProcessEnv,
  fail: (key: string, what: string) => never,
): Buffer {
  if (token_env !== undefined && sha256 !== undefined) {
    return fail('', 'has both token_env and sha256; keep the one that holds');
  }
  if (sha256 !== undefined) {
    if (/^[\da-f]{64}$/i.test(sha256)) return Buffer.from(sha256, 'hex');
    return fail('.sha256', 'must be the 64 hex digits of the SHA-256 of a token');
  }
  if (token_env === undefined)
    return fail('', 'has neither token_env nor sha256; name the variable that holds the token');
  return createHash('sha256')
    .update(tokenOf(token_env, env, (what) => fail('.token_env', what)))
    .digest();
}

function tokenOf(variable: string, env: NodeJS.ProcessEnv, fail: Fail): string {
  if (!/^[A-Za-z_]\w*$/.test(variable))
    return fail('must be the name of an environment variable, not the token itself');
  // A value that does not look like a variable name may be a token that was pasted here by mistake, so it is not shown.
  const shown = /^[A-Z_][A-Z0-9_]*$/.test(variable)
    ? `the environment variable ${variable}`
    : 'the environment variable';
  const token = env[variable];
  if (token === undefined) return fail(`${shown} is not set; set it to the token`);
  if (token === '') return fail(`${shown} is empty; set it to the token`);
  if (token.length < MIN_TOKEN_LENGTH) {
    return fail(
      `${shown} holds a token of fewer than ${MIN_TOKEN_LENGTH} characters, which can be guessed; use a longer one, such as from "openssl rand -hex 32"`,
    );
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    return fail(`${shown} holds what no header can carry; a token has only letters, digits and punctuation, no spaces`);
  }
  return token;
}
