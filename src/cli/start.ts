import { describeThrown } from '../audit/describe-thrown.ts';
import type { FormatLine, Log } from '../audit/log.ts';
import type { CallObserver } from '../audit/record-call.ts';
import type { SharedStore } from '../cluster/shared-store.ts';
import type { Config, DialectConfig } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { fenceFromEnvironment } from '../config/fence-from-environment.ts';
import { loadConfig } from '../config/file/load-config.ts';
import { configFromDirs } from '../config/folders/config-from-dirs.ts';
import { importWhenLoadable } from '../config/program/loadable-modules.ts';
import { packageVersion } from '../config/program/package-files.ts';
import { type Hardening, harden } from '../hardening/harden.ts';
import { type ActivityReport, reportActivity } from '../server/background/activity-report.ts';
import { RootUpkeep } from '../server/background/root-upkeep.ts';
import { forDialect, openSharedService, type Service, type SharedService } from '../server/call/service.ts';
import type { OpenedAgentRoots } from '../server/call/with-agent-files.ts';
import { loggedOutage, type OutageListener } from '../server/cluster/store-outage.ts';
import type { Approvals } from '../server/confirm/approve.ts';
import type { ServerDescription } from '../server/description/server-description.ts';
import type { SigningSecrets } from '../server/sessions/signing-keys.ts';
import { DescribedDialects } from './load-dialect.ts';
import { openLogOf } from './open-log.ts';

/** How long running calls may take to finish after a stop signal. */
export const GRACE_MS = 8_000;
/**
 * How long after a stop signal nothing is waited for any more: neither for clients that do not read their last answers
 * nor for a Redis that hangs. Leaves time to exit within the 10 seconds that Docker waits.
 */
export const STOP_MS = 9_200;

/** The arguments of `serve` and `stdio` that say what to serve. */
export interface ConfigSource {
  readonly dirs: readonly string[];
  readonly config?: string;
  /** Whether the history of the folders is kept. */
  readonly history?: boolean;
}

/** What the workers of one parent have in common, unless the config says where replicas have it. */
interface CommonOptions {
  readonly store: SharedStore;
  readonly secrets: SigningSecrets;
}

/** Options of `start`. */
export interface StartOptions {
  /** Whether the process listens on a port. */
  readonly listens: boolean;
  /** How the lines of the log are written; as JSON by default. */
  readonly formatLine?: FormatLine | undefined;
  /** The number of this process, if it is one of several: it is in each line of the log. */
  readonly worker?: number;
  /** What this process has in common with others of the same parent; by default nothing. */
  readonly common?: CommonOptions | undefined;
  /** Is told when Redis is lost, and when it is back; by default there is a line in the log for each. */
  readonly outages?: OutageListener | undefined;
  /** Are told of every finished call; by default nobody is. */
  readonly observers?: readonly CallObserver[] | undefined;
  /** Asks operators about calls whose clients can ask nobody; by default there are none. */
  readonly approvals?: Approvals | undefined;
  /** Called with each config that is served instead of another, in the turn in which it is. */
  readonly onReload?: ((config: Config) => void) | undefined;
}

/** A started server without its transport. */
export interface RunningServer {
  readonly shared: SharedService;
  /** Opens the service of one of the configured dialects. Raises `ConfigError`. */
  serviceFor(dialect: DialectConfig): Promise<Service>;
  /** Returns the description of one of them, which a reload changes in place. */
  descriptionOf(dialect: DialectConfig): Promise<ServerDescription>;
  readonly log: Log;
  /**
   * Opens the log file anew, loads the config once more and serves it from the next call on; what is wrong with it is
   * said in the log, and then nothing changes. Never rejects.
   */
  reload(load: () => Promise<Config>): Promise<void>;
  readonly report: ActivityReport;
  readonly version: string;
  /** The name of the fence's backend. */
  readonly fence: string;
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
export async function start(config: Config, options: StartOptions): Promise<RunningServer> {
  const backend = fenceFromEnvironment();
  const withHistory = config.roots.filter(({ history }) => history !== undefined).map(({ name }) => name);
  const log = await openLogOf(config, options);
  const { openHistory } = withHistory.length > 0 ? await import('../server/call/roots/open-history.ts') : {};
  const store = config.cluster
    ? (await import('../server/cluster/open-store.ts')).openStore(
        config.cluster,
        options.outages ?? loggedOutage(log.logger),
      )
    : options.common?.store;
  const shared = openSharedService({
    config,
    backend,
    logger: log.logger,
    observers: options.observers,
    approvals: options.approvals,
    openHistory,
    store,
    secrets: options.common?.secrets,
  });
  const hardening = await harden(config, options);
  const upkeep = new RootUpkeep(shared);
  const fresh = shared.roots.all().flatMap((named) => (named.kind === 'agent' ? [] : [{ named, isNewFolder: true }]));
  const ready = upkeep.makeReady(fresh);
  upkeep.start(fresh);
  const report = reportActivity(shared);
  process.on('SIGUSR2', report.all);
  // By default Node prints the error's message, which may quote file content.
  process.once('uncaughtException', (error) => {
    log.logger.error({ error: describeThrown(error) }, 'crashed');
    void log.flush().finally(() => process.exit(1));
  });
  const version = packageVersion();
  const opened = new Map() as OpenedAgentRoots;
  const described = new DescribedDialects(config);
  const serviceFor = async (named: DialectConfig): Promise<Service> => {
    const [dialect, description] = await Promise.all([
      described.dialect(named.name),
      described.description(named.name),
      ready,
    ]);
    const service = forDialect(shared, { dialect, description, boundRoot: named.root });
    if (!usesAgentFiles(config, named)) return service;
    const { withAgentFiles } = await import('../server/call/with-agent-files.ts');
    return withAgentFiles(service, { config, project: named.project, backend, opened });
  };
  let reloading: Promise<unknown> = ready;
  const reloadable = { shared, upkeep, described, log, hardening, started: config, options, config };
  const reload = (load: () => Promise<Config>): Promise<void> => {
    log.reopen();
    const reloaded = reloading.then(async () => {
      const { reloadConfig } = await importWhenLoadable(() => import('./reload-config.ts'));
      await reloadConfig(reloadable, load);
    });
    reloading = reloaded.catch((error: unknown) => {
      log.logger.error({ error: describeThrown(error) }, 'config not reloaded');
    });
    return reloading as Promise<void>;
  };
  return {
    shared,
    serviceFor,
    descriptionOf: (named) => described.description(named.name),
    log,
    reload,
    report,
    version,
    fence: backend.name,
    hardening,
    facts: {
      version,
      config: config.file,
      roots: config.roots.map(({ name }) => name),
      ...(withHistory.length > 0 && { history: withHistory }),
      fence: backend.name,
      landlock: hardening,
    },
    close: async () => {
      upkeep.stopAll();
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
