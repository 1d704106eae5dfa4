import { describeThrown } from '../audit/describe-thrown.ts';
import { type Log, openLog } from '../audit/log.ts';
import type { Config, DialectConfig } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { configFromDirs } from '../config/config-from-dirs.ts';
import { fenceFromEnvironment } from '../config/fence-from-environment.ts';
import { loadConfig } from '../config/load-config.ts';
import { packageVersion } from '../config/package-files.ts';
import { type Hardening, harden } from '../hardening/harden.ts';
import { type ActivityReport, reportActivity } from '../server/background/activity-report.ts';
import { limitHistories } from '../server/background/limit-histories.ts';
import { sweepInBackground, undoTornAppends } from '../server/background/sweep-in-background.ts';
import { forDialect, openSharedService, type Service, type SharedService } from '../server/call/service.ts';
import type { OpenedAgentRoots } from '../server/call/with-agent-files.ts';
import { loadDescription, loadDialect } from './load-dialect.ts';

/**
 * How long running calls may take to finish after a stop signal. Leaves time to exit within the 10 seconds that Docker
 * waits.
 */
export const GRACE_MS = 8_500;

/** The arguments of `serve` and `stdio` that say what to serve. */
export interface ConfigSource {
  readonly dirs: readonly string[];
  readonly config?: string;
  /** Whether the history of the folders is kept. */
  readonly history?: boolean;
}

/** A started server without its transport. */
export interface RunningServer {
  readonly shared: SharedService;
  /** Opens the service of one of the configured dialects. Raises `ConfigError`. */
  serviceFor(dialect: DialectConfig): Promise<Service>;
  readonly log: Log;
  readonly report: ActivityReport;
  /** What the kernel enforces. */
  readonly hardening: Hardening;
  /** The log fields of the start. They name roots, never their host paths. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Releases everything and flushes the log. Stop the transport first. */
  close(): Promise<void>;
}

/** Returns the config for the folders or the config file on the command line. Raises `ConfigError`. */
export async function loadConfigSource({ dirs, config, history }: ConfigSource): Promise<Config> {
  if (config !== undefined && dirs.length > 0) {
    throw new ConfigError('give either --config FILE or folders, not both; list the folders as roots in the config');
  }
  if (config !== undefined && history)
    throw new ConfigError('--history is for folders without a config; set history for the roots in the config');
  if (config !== undefined) return loadConfig(config);
  if (dirs.length > 0) return keepingHistory(configFromDirs(dirs), history);
  throw new ConfigError('nothing to serve; give the folders to serve, or a config with --config FILE');
}

/** Returns a config for a command with `--history`. It is loaded only then, because the client waits for the start. */
export async function keepingHistory(config: Config, history = false): Promise<Config> {
  return history ? (await import('../config/with-history.ts')).withHistory(config) : config;
}

/**
 * Opens the roots and the log, lets the kernel confine this process to them, and starts the background tasks, but no
 * dialect and no transport. Raises `ConfigError`.
 */
export async function start(config: Config, options: { readonly listens: boolean }): Promise<RunningServer> {
  const backend = fenceFromEnvironment();
  const withHistory = config.roots.filter(({ history }) => history !== undefined).map(({ name }) => name);
  const log = openLog(config.logLevel);
  const { openHistory } = withHistory.length > 0 ? await import('../server/call/open-history.ts') : {};
  const shared = openSharedService({ config, backend, logger: log.logger, openHistory });
  const hardening = await harden(config, options);
  const undone = undoTornAppends(shared);
  const sweep = sweepInBackground(shared);
  const limits = limitHistories(shared);
  const report = reportActivity(shared);
  process.on('SIGUSR2', report.all);
  // By default Node prints the error's message, which may quote file content.
  process.once('uncaughtException', (error) => {
    log.logger.error({ error: describeThrown(error) }, 'crashed');
    void log.flush().finally(() => process.exit(1));
  });
  const opened = new Map() as OpenedAgentRoots;
  const serviceFor = async (named: DialectConfig): Promise<Service> => {
    const [dialect, description] = await Promise.all([
      loadDialect(named.name, config),
      loadDescription(named.name, config),
      undone,
    ]);
    const service = forDialect(shared, { dialect, description, boundRoot: named.root });
    if (!usesAgentFiles(config, named)) return service;
    const { withAgentFiles } = await import('../server/call/with-agent-files.ts');
    return withAgentFiles(service, { config, project: named.project, backend, opened });
  };
  return {
    shared,
    serviceFor,
    log,
    report,
    hardening,
    facts: {
      version: packageVersion(),
      config: config.file,
      roots: config.roots.map(({ name }) => name),
      ...(withHistory.length > 0 && { history: withHistory }),
      fence: backend.name,
      landlock: hardening,
    },
    close: async () => {
      sweep.stop();
      limits.stop();
      process.off('SIGUSR2', report.all);
      await shared.close();
      await log.flush();
    },
  };
}

/** Reports whether a dialect works on client-side files. */
export function usesAgentFiles({ roots }: Config, { root, project }: DialectConfig): boolean {
  return project !== undefined || (root === undefined && roots.some(({ agent }) => agent !== undefined));
}
