import type { ClusterConfig } from '../config.ts';
import type { Fail } from '../config-error.ts';
import type { ConfigFile } from './schema.ts';

/** A shorter secret could be found by trying. */
const MIN_SECRET_LENGTH = 32;
/** The one that signs, and the one before it. */
const MAX_SECRETS = 2;

interface ClusterCheckOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly fail: Fail;
}

/**
 * Checks the `cluster` section of a config, and reads the secrets from the environment. Calls `fail` for the first
 * problem, with a line that names the key and shows neither a secret nor a password.
 */
export function checkCluster(
  { secret_env, redis }: NonNullable<ConfigFile['cluster']>,
  { env, fail }: ClusterCheckOptions,
): ClusterConfig {
  const failUrl = (problem: string): never => fail(`cluster.redis: ${problem}`);
  return {
    secrets: secretsOf(secret_env, env, (problem) => fail(`cluster.secret_env: ${problem}`)),
    redis: checkUrl(withVariables(redis, env, failUrl), failUrl),
  };
}

function secretsOf(variable: string, env: NodeJS.ProcessEnv, fail: Fail): ClusterConfig['secrets'] {
  // What does not look like the name of a variable may be the secret itself, so it is not shown.
  if (!/^[A-Z_][A-Z0-9_]*$/i.test(variable)) return fail('must be the name of an environment variable, not the secret');
  const shown = `the environment variable ${variable}`;
  const [first = '', ...more] = (env[variable] ?? '').split(',').map((secret) => secret.trim());
  if (first === '') return fail(`${shown} is not set; set it to the same secret for all replicas`);
  if (more.length >= MAX_SECRETS) return fail(`${shown} holds more than two secrets; keep the new one and the last`);
  if ([first, ...more].some((secret) => secret.length < MIN_SECRET_LENGTH)) {
    return fail(
      `${shown} holds a secret of fewer than ${MIN_SECRET_LENGTH} characters, which can be guessed; use a longer one, such as from "openssl rand -hex 32"`,
    );
  }
  return [first, ...more];
}

/** Replaces `${NAME}` by what the environment holds, so that the password need not stand in the config. */
function withVariables(text: string, env: NodeJS.ProcessEnv, fail: Fail): string {
  return text.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, name: string) => {
    return env[name] ?? fail(`the environment variable ${name} is not set`);
  });
}

function checkUrl(text: string, fail: Fail): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['redis:', 'rediss:'].includes(url.protocol) || url.hostname === '') {
    return fail('must be a URL such as redis://:PASSWORD@HOST:6379/0, or rediss:// for TLS');
  }
  if (!/^\/?\d*$/.test(url.pathname)) return fail('the path of the URL must be the number of a database');
  return url.href;
}
