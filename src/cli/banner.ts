import type { Logger } from 'pino';
import { allowedOn, type Config, canChange } from '../config/config.ts';
import { mountPath } from '../config/mount-path.ts';
import type { Hardening } from '../hardening/harden.ts';
import { isLoopbackAddress } from '../server/http/access-control.ts';
import { allowsAll } from '../tools/capabilities.ts';

/** What is said of a server that has started, besides its config. */
export interface Announcement {
  /** The URL for clients on this machine, without the path of a dialect. */
  readonly base: string;
  readonly port: number;
  readonly version: string;
  /** What the kernel enforces. */
  readonly hardening: Hardening;
  /** The log fields of the start. They name roots, never their host paths. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Tells programs by the log, and people by stdout, where a server listens, and warns them if anyone may come. */
export function announce(config: Config, logger: Logger, started: Announcement): void {
  const urls = config.dialects.map(({ name }) => started.base + mountPath(name));
  const facts = { ...started.facts, dialects: config.dialects.map(({ name }) => name) };
  logger.info({ ...facts, address: `${config.host}:${started.port}`, url: urls[0], urls }, 'listening');
  if (isOpen(config)) {
    logger.warn(
      { host: config.host },
      'reachable from other machines without authentication; set auth.tokens, or host: 127.0.0.1, unless that is intended',
    );
  }
  process.stdout.on('error', () => {});
  if (isOpen(config)) process.stderr.write(openWarning(config));
  process.stdout.write(banner(config, urls, started));
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
function banner(
  { roots, dialects, auth, port, console }: Config,
  urls: readonly string[],
  { base, version, hardening }: Announcement,
): string {
  const width = Math.max(...roots.map(({ name }) => name.length));
  const rows = roots.map((root) => {
    const tools = allowedOn(root);
    const what = allowsAll(tools) ? 'all tools' : [...new Set(tools)].join(', ') || 'no tools';
    return `  ${root.name.padEnd(width)}  ${what}${root.history === undefined ? '' : '; with history'}`;
  });
  const header = auth === undefined ? '' : ' --header "Authorization: Bearer TOKEN"';
  return [
    `Ringfence ${version} is serving MCP at ${urls.join(' and ')}`,
    '',
    'Roots:',
    ...rows,
    '',
    hardeningLine(hardening, port),
    '',
    'Connect from Claude Code:',
    ...urls.map(
      (url, index) => `  claude mcp add --transport http ${clientName(dialects[index]?.name)} ${url}${header}`,
    ),
    '',
    ...(console && auth ? [`Watch it, and answer its questions, at ${base}/console`, ''] : []),
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
