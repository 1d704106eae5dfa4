import { allowedOn, type Config, canChange, type DialectConfig } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Hardening } from '../hardening/harden.ts';
import { warmUpInBackground } from '../server/background/warm-up.ts';
import { isLoopbackAddress } from '../server/http/access-control.ts';
import { type Mount, type RunningHttpServer, startHttp } from '../server/http/http-server.ts';
import { allowsAll } from '../tools/capabilities.ts';
import { ListenError } from './listen-error.ts';
import { mountPath } from './load-dialect.ts';
import { firstSignal } from './signals.ts';
import { type ConfigSource, GRACE_MS, loadConfigSource, type RunningServer, start } from './start.ts';

/** The command line of `ringfence serve`. */
export interface ServeOptions extends ConfigSource {
  readonly host?: string;
  readonly port?: string;
}

/** Serves over HTTP until SIGTERM, SIGINT or SIGHUP. Raises `ConfigError` and `ListenError`. */
export async function serve(options: ServeOptions): Promise<void> {
  const config = withOverrides(await loadConfigSource(options), options);
  const stopped = firstSignal();
  const started = await start(config, { listens: true });
  const { logger } = started.log;
  const mounts = await mountsOf(config, started);
  const http = await listen(() => startHttp(mounts, config), config, options);
  const urls = mounts.map(({ path }) => http.base + path);
  const facts = { ...started.facts, dialects: config.dialects.map(({ name }) => name) };
  logger.info({ ...facts, address: `${config.host}:${http.port}`, url: urls[0], urls }, 'listening');
  if (isOpen(config)) {
    logger.warn(
      { host: config.host },
      'reachable from other machines without authentication; set auth.tokens, or host: 127.0.0.1, unless that is intended',
    );
  }
  process.stdout.on('error', () => {});
  if (isOpen(config)) process.stderr.write(openWarning(config));
  process.stdout.write(banner(config, urls, started));
  const { running } = started.shared;
  const warmUps = mounts.map(({ service }) => warmUpInBackground({ load: async () => service, running }));
  const signal = await stopped;
  for (const warmUp of warmUps) warmUp.stop();
  const closed = http.close(GRACE_MS);
  logger.info({ signal }, 'stopping');
  await closed;
  started.report.stop();
  logger.info('stopped');
  await started.close();
}

async function mountsOf({ dialects: [first, ...more] }: Config, started: RunningServer): Promise<[Mount, ...Mount[]]> {
  const mount = async (dialect: DialectConfig): Promise<Mount> => ({
    path: mountPath(dialect.name),
    service: await started.serviceFor(dialect),
  });
  return [await mount(first), ...(await Promise.all(more.map(mount)))];
}

function withOverrides(config: Config, { host, port }: ServeOptions): Config {
  if (host === '') throw new ConfigError('--host: must be an address, got an empty one');
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65535)) {
    throw new ConfigError(`--port: must be an integer from 0 to 65535, got "${port}"`);
  }
  return { ...config, ...(host !== undefined && { host }), ...(port !== undefined && { port: Number(port) }) };
}

/** Starts to listen. Raises `ListenError`, which names the flag or config key that set the address or port. */
async function listen(
  attempt: () => Promise<RunningHttpServer>,
  { file, host, port }: Config,
  options: ServeOptions,
): Promise<RunningHttpServer> {
  const written = (key: 'host' | 'port'): string =>
    options[key] !== undefined || file === undefined ? `--${key}` : `${file}: ${key}`;
  try {
    return await attempt();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new ListenError(
        `${written('port')}: port ${port} on ${host} is already in use; stop what uses it or choose another`,
      );
    }
    if (code === 'EACCES') {
      throw new ListenError(`${written('port')}: permission denied for port ${port} on ${host}; choose one above 1023`);
    }
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
      throw new ListenError(
        `${written('host')}: ${host} is not an address of this machine; correct it, or use 127.0.0.1`,
      );
    }
    if (code === undefined) throw error;
    throw new ListenError(`${written('port')}: cannot listen on ${host}, port ${port}: ${code}`);
  }
}

/** Reports whether anyone who reaches this machine over the network is served. */
function isOpen({ auth, host }: Config): boolean {
  return auth === undefined && !isLoopbackAddress(host);
}

/** Returns what a person has to know who starts a server that asks nobody for a token. */
function openWarning({ roots, host }: Config): string {
  const canWrite = roots.some(canChange);
  const names = roots.map(({ name }) => name).join(', ');
  return `WARNING: anyone on the network who can reach this machine (${host}) can read${canWrite ? ' and write' : ''} these roots: ${names}. Set auth.tokens in the config, or host: 127.0.0.1, unless that is intended.\n`;
}

/** Returns the text on stdout that tells a person how to connect. The log has the same facts for programs. */
function banner({ roots, dialects, auth, port }: Config, urls: readonly string[], started: RunningServer): string {
  const width = Math.max(...roots.map(({ name }) => name.length));
  const rows = roots.map((root) => {
    const tools = allowedOn(root);
    const what = allowsAll(tools) ? 'all tools' : [...new Set(tools)].join(', ') || 'no tools';
    return `  ${root.name.padEnd(width)}  ${what}${root.history === undefined ? '' : '; with history'}`;
  });
  const header = auth === undefined ? '' : ' --header "Authorization: Bearer TOKEN"';
  return [
    `Ringfence ${started.facts.version} is serving MCP at ${urls.join(' and ')}`,
    '',
    'Roots:',
    ...rows,
    '',
    hardeningLine(started.hardening, port),
    '',
    'Connect from Claude Code:',
    ...urls.map(
      (url, index) => `  claude mcp add --transport http ${clientName(dialects[index]?.name)} ${url}${header}`,
    ),
    '',
    'Stop with Ctrl+C.',
    '',
  ].join('\n');
}

function hardeningLine(hardening: Hardening, port: number): string {
  if (typeof hardening === 'string')
    return `The kernel does not confine this process besides (Landlock: ${hardening}).`;
  const { abi, rules, network } = hardening;
  const tcp = network ? `, and to ${port === 0 ? 'one TCP port' : `TCP port ${port}`}` : '';
  return `The kernel confines this process to these roots${tcp} (Landlock ABI ${abi}, ${rules} rules).`;
}

function clientName(dialect = 'workspace'): string {
  return dialect === 'workspace' ? 'ringfence' : `ringfence-${dialect}`;
}
