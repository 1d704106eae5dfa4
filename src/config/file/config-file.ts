import path from 'node:path';
import { argumentChecker, type CheckStyle } from '../../tools/check-arguments.ts';
import { didYouMean } from '../../tools/nearest.ts';
import type { Config, DialectConfig, DialectName, RateLimitConfig, RootConfig } from '../config.ts';
import { ConfigError, type Fail } from '../config-error.ts';
import { checkLogFile } from '../own-files.ts';
import { checkAuth } from './auth-config.ts';
import { checkCluster } from './cluster-config.ts';
import { keyName } from './key-name.ts';
import { readYaml } from './read-yaml.ts';
import { resolveFolder, resolvePath, type Surroundings } from './resolve-path.ts';
import { checkRoots, toAgent } from './roots-config.ts';
import { type ConfigFile, configSchema } from './schema.ts';

const KEYS: CheckStyle = {
  noun: 'key',
  name: keyName,
  // A token, a secret or a password may have been written at a wrong key of these sections.
  hides: ([first]) => first === 'auth' || first === 'cluster',
};

/**
 * Reads and checks a config file and the environment variables that it names, those with secrets from `secrets`. Raises
 * a `ConfigError` that names file, key and fix.
 */
export async function readConfigFile(
  file: string,
  env: NodeJS.ProcessEnv,
  secrets: NodeJS.ProcessEnv,
): Promise<Config> {
  const fail = (problem: string): never => {
    throw new ConfigError(`${file}: ${problem}`);
  };
  const checked = argumentChecker(configSchema, KEYS)(await readYaml(file, fail));
  if ('problems' in checked) return fail(checked.problems.map(({ message }) => message).join('; '));
  const { value } = checked;
  const base = path.dirname(path.resolve(file));
  const surroundings = { base, env, fail };
  const roots = checkRoots(value.roots, surroundings);
  const kept = value.cluster === undefined ? -1 : roots.findIndex(({ history }) => history !== undefined);
  if (kept !== -1)
    fail(
      `roots[${kept}].history: cannot be kept together with cluster, because not every file system lets several machines append to its log; leave out one of the two`,
    );
  return {
    file,
    host: value.host,
    port: value.port,
    maxFullReadSize: value.max_full_read_size,
    requestTimeout: value.request_timeout,
    confirmTimeout: value.confirm_timeout,
    results: value.results,
    maxResultChars: value.max_result_chars,
    annotations: value.annotations,
    logLevel: value.log_level,
    logFile: value.log_file && toLogFile(value.log_file, roots, surroundings),
    durableWrites: value.durable_writes,
    roots,
    dialects: checkDialects(value.dialects, roots, surroundings),
    auth:
      value.auth &&
      checkAuth(
        value.auth,
        roots.map(({ name }) => name),
        { env: secrets, fail },
      ),
    landlock: value.hardening?.landlock,
    console: checkConsole(value, fail),
    rateLimit: value.rate_limit && toRateLimit(value.rate_limit),
    memory: value.limits.memory,
    cluster: value.cluster && checkCluster(value.cluster, { env: secrets, fail }),
  };
}

function toLogFile(written: string, roots: readonly RootConfig[], surroundings: Surroundings): string {
  const file = resolvePath(written, 'log_file', surroundings);
  return checkLogFile(file, roots, (what) => surroundings.fail(`log_file: ${what}`));
}

function checkDialects(
  dialects: ConfigFile['dialects'],
  roots: readonly RootConfig[],
  surroundings: Surroundings,
): Config['dialects'] {
  const { fail } = surroundings;
  const [first, ...more] = Object.entries(dialects).map(([name, options]): DialectConfig => {
    if (name === 'guide' && dialects.guide !== undefined) {
      const project = resolveFolder(dialects.guide.project, 'dialects.guide.project', surroundings);
      const origin = 'dialects.guide.allowed_paths';
      return { name, root: undefined, project: { ...toAgent(dialects.guide), project, origin } };
    }
    const root = options && 'root' in options ? options.root : undefined;
    const found = roots.find((known) => known.name === root);
    if (found?.agent !== undefined) {
      fail(
        `dialects.${name}.root: "${root}" is a root of kind agent, whose files only workspace can use; name a root that has a path`,
      );
    }
    if (root !== undefined && found === undefined) {
      const names = roots.map((known) => known.name);
      const hint = didYouMean(root, names);
      fail(`dialects.${name}.root: unknown root "${root}"${hint}; known are ${names.join(', ')}`);
    }
    return { name: name as DialectName, root };
  });
  return first === undefined ? fail('dialects: names none; leave the key out to serve workspace') : [first, ...more];
}

/** Returns whether the console is served. Calls `fail` if nobody could use it. */
function checkConsole({ console, auth }: ConfigFile, fail: Fail): boolean {
  if (console?.enabled !== true) return false;
  if (auth !== undefined && !auth.tokens.some((token) => token.console))
    fail('console.enabled: no token may use it; set console: true for one of auth.tokens');
  return true;
}

function toRateLimit({ calls_per_second, burst }: NonNullable<ConfigFile['rate_limit']>): RateLimitConfig {
  return { callsPerSecond: calls_per_second, burst: burst ?? Math.ceil(calls_per_second) };
}
