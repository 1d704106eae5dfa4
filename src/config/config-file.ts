import fs from 'node:fs';
import path from 'node:path';
import { patternsProblem } from '../fence/index.ts';
import { AGENT_CAPABILITIES, CAPABILITIES, type Capability, CONFIRMABLE_CAPABILITIES } from '../tools/capabilities.ts';
import { argumentChecker, type CheckStyle } from '../tools/check-arguments.ts';
import { didYouMean } from '../tools/nearest.ts';
import { toCapabilities } from './allowed-tools.ts';
import { checkAuth } from './auth-config.ts';
import {
  type AgentConfig,
  type Config,
  canChange,
  type DialectConfig,
  type DialectName,
  type RateLimitConfig,
  type RootConfig,
} from './config.ts';
import { ConfigError } from './config-error.ts';
import { folderProblem } from './folder-problem.ts';
import { checkHistory } from './history-config.ts';
import { rootNameProblem } from './root-name.ts';
import { type ConfigFile, configSchema } from './schema.ts';

const KEYS: CheckStyle = {
  noun: 'key',
  name: (keys) =>
    keys.reduce<string>(
      (name, key) =>
        typeof key === 'number' ? `${name}[${key}]` : name === '' ? String(key) : `${name}.${String(key)}`,
      '',
    ),
  // A token may have been written at a wrong key of this section.
  hides: ([first]) => first === 'auth',
};

/**
 * Reads and checks a config file and the environment variables that it names. Raises a `ConfigError` that names file,
 * key and fix.
 */
export async function readConfigFile(file: string, env: NodeJS.ProcessEnv): Promise<Config> {
  const fail = (problem: string): never => {
    throw new ConfigError(`${file}: ${problem}`);
  };
  const checked = argumentChecker(configSchema, KEYS)(await parseYaml(readText(file, fail), fail));
  if ('problems' in checked) return fail(checked.problems.map(({ message }) => message).join('; '));
  const { value } = checked;
  const base = path.dirname(path.resolve(file));
  const roots = checkRoots(value.roots, base, fail);
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
    durableWrites: value.durable_writes,
    roots,
    dialects: checkDialects(value.dialects, roots, { base, fail }),
    auth:
      value.auth &&
      checkAuth(
        value.auth,
        roots.map(({ name }) => name),
        { env, fail },
      ),
    landlock: value.hardening?.landlock,
    rateLimit: value.rate_limit && toRateLimit(value.rate_limit),
    memory: value.limits.memory,
  };
}

type Fail = (problem: string) => never;

function readText(file: string, fail: Fail): string {
  try {
    const bytes = fs.readFileSync(file);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return fail('no such config file; give the path of an existing one to --config');
    if (code === 'EISDIR') return fail('is a folder, not a config file; to serve a folder give it without --config');
    if (code === 'EACCES' || code === 'EPERM') return fail('the config file cannot be read: permission denied');
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      return fail('the config file is not UTF-8 text; save it as UTF-8');
    return fail(`the config file cannot be read: ${code ?? 'unknown error'}`);
  }
}

async function parseYaml(text: string, fail: Fail): Promise<unknown> {
  // Loaded only here: a start without a config file does not need the parser.
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { prettyErrors: true });
  const [error] = document.errors;
  if (error !== undefined) {
    const line = error.linePos?.[0].line;
    const summary = error.message.split(/ at line \d+|\n/)[0] ?? 'syntax error';
    return fail(`not valid YAML${line === undefined ? '' : `, line ${line}`}: ${summary}`);
  }
  try {
    const value: unknown = document.toJS();
    return value ?? fail('the config is empty; it needs at least the key roots');
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    return fail(`not valid YAML: ${(cause as Error).message}`);
  }
}

function checkRoots(roots: ConfigFile['roots'], base: string, fail: Fail): RootConfig[] {
  const seen = new Map<string, number>();
  return roots.map((root, index) => {
    const at = `roots[${index}]`;
    const problem = rootNameProblem(root.name);
    if (problem !== undefined) fail(`${at}.name ${problem}`);
    const earlier = seen.get(root.name);
    if (earlier !== undefined)
      fail(
        `${at}.name: duplicate root name "${root.name}", already used by roots[${earlier}]; give each root its own name`,
      );
    seen.set(root.name, index);
    const all = root.agent === undefined ? CAPABILITIES : AGENT_CAPABILITIES;
    const allowed = root.allowed_tools.flatMap((tool, nth) =>
      toCapabilities(tool, all, (what) => fail(`${at}.allowed_tools[${nth}]: ${what(root.name)}`)),
    );
    if (root.agent !== undefined) {
      if (root.path !== undefined)
        fail(`${at} has both path and agent; keep path for a folder of this machine, agent for files of the client`);
      for (const key of ['read_only', 'deny', 'protect', 'confirm'] as const)
        if (root[key] !== undefined)
          fail(`${at}.${key}: is for folders of this machine; agent.allowed_paths limits this root`);
      if (root.history !== undefined)
        fail(
          `${at}.history: is for folders of this machine; files on the client's side are only read, so leave it out`,
        );
      return { name: root.name, agent: toAgent(root.agent), allowed, origin: `${at}.agent.allowed_paths` };
    }
    if (root.path === undefined) {
      return fail(`${at}.path is required; or give agent instead, for files of the client`);
    }
    const folder = path.resolve(base, root.path);
    const origin = `${at}.path`;
    const trouble = folderProblem(folder);
    if (trouble !== undefined) fail(`${origin}: ${trouble}`);
    const rules = checkRules(root, (what) => fail(`${at}.${what}`));
    const history = checkHistory(root.history, {
      name: (keys) => KEYS.name(['roots', index, 'history', ...keys]),
      fail,
    });
    const local = { name: root.name, path: folder, allowed, origin, ...rules, ...(history && { history }) };
    if (history !== undefined && !canChange(local))
      fail(
        `${at}.history: nothing in this root may be changed (${rules.readOnly ? 'read_only' : 'allowed_tools'}), so there is nothing to keep; leave it out`,
      );
    return local;
  });
}

function checkRules({ read_only: readOnly, deny, protect, confirm }: ConfigFile['roots'][number], fail: Fail) {
  for (const [key, patterns = []] of Object.entries({ deny, protect })) {
    const found = patternsProblem(patterns);
    if (found !== undefined) fail(`${key}[${found.index}]: ${JSON.stringify(patterns[found.index])} ${found.problem}`);
  }
  return {
    ...(readOnly && { readOnly }),
    ...(deny && { deny }),
    ...(protect && { protect }),
    ...(confirm && { confirm: toConfirmable(confirm, fail) }),
  };
}

function toConfirmable(confirm: readonly string[], fail: Fail): readonly Capability[] {
  return confirm.flatMap((tool, nth) => {
    const at = `confirm[${nth}]`;
    const isHarmless =
      CAPABILITIES.some((name) => name === tool) && !CONFIRMABLE_CAPABILITIES.some((name) => name === tool);
    if (isHarmless) return fail(`${at}: ${tool} changes nothing, so nobody can be asked about it; leave it out`);
    return toCapabilities(tool, CONFIRMABLE_CAPABILITIES, (what) => fail(`${at}: ${what('')}`));
  });
}

function checkDialects(
  dialects: ConfigFile['dialects'],
  roots: readonly RootConfig[],
  { base, fail }: { base: string; fail: Fail },
): Config['dialects'] {
  const [first, ...more] = Object.entries(dialects).map(([name, options]): DialectConfig => {
    if (name === 'guide' && dialects.guide !== undefined) {
      const project = path.resolve(base, dialects.guide.project);
      const trouble = folderProblem(project);
      if (trouble !== undefined) fail(`dialects.guide.project: ${trouble}`);
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

function toAgent(written: NonNullable<ConfigFile['roots'][number]['agent']>): AgentConfig {
  return { allowedPaths: written.allowed_paths, cacheBytes: written.cache_bytes, timeout: written.timeout };
}

function toRateLimit({ calls_per_second, burst }: NonNullable<ConfigFile['rate_limit']>): RateLimitConfig {
  return { callsPerSecond: calls_per_second, burst: burst ?? Math.ceil(calls_per_second) };
}
