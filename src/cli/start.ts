import { describeThrown } from '../audit/describe-thrown.ts';
import { type Log, openLog } from '../audit/log.ts';
import type { Config, DialectConfig } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { configFromDirs } from '../config/config-from-dirs.ts';
import { fenceFromEnvironment } from '../config/environment.ts';
import { loadConfig } from '../config/load-config.ts';
import { packageVersion } from '../config/package-files.ts';
import { type ActivityReport, reportActivity } from '../server/background/activity-report.ts';
import { sweepInBackground } from '../server/background/sweep.ts';
import { forDialect, openSharedService, type Service, type SharedService } from '../server/call/service.ts';
import { descriptionOf, loadDialect } from './load-dialect.ts';

/** How long running calls may take to finish once the server was asked to stop, so that all is over within 10 s. */
export const GRACE_MS = 8_500;

/** What `serve` and `stdio` have in common on the command line. */
export interface Source {
  readonly dirs: readonly string[];
  readonly config?: string;
}

/** What is open once the server runs, with what it takes to describe and to end it. */
export interface RunningServer {
  readonly shared: SharedService;
  /** What calls in one of the config's dialects need. Raises `ConfigError`. */
  serviceFor(dialect: DialectConfig): Promise<Service>;
  readonly log: Log;
  readonly report: ActivityReport;
  /** What is logged about the start. Names roots, never their folders. */
  readonly facts: Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

/** The config that the command line asks for. Raises `ConfigError`. */
export async function loadSource({ dirs, config }: Source): Promise<Config> {
  if (config !== undefined && dirs.length > 0) {
    throw new ConfigError('give either --config FILE or folders, not both; list the folders as roots in the config');
  }
  if (config !== undefined) return loadConfig(config);
  if (dirs.length > 0) return configFromDirs(dirs);
  throw new ConfigError('nothing to serve; give the folders to serve, or a config with --config FILE');
}

/** Opens everything but dialects and transport. Raises `ConfigError`. */
export function start(config: Config): RunningServer {
  const backend = fenceFromEnvironment();
  const log = openLog(config.logLevel);
  const shared = openSharedService({ config, backend, logger: log.logger });
  const sweep = sweepInBackground(shared);
  const report = reportActivity(shared);
  process.on('SIGUSR2', report.all);
  // Node's own report would print the error's message, which may quote file content.
  process.once('uncaughtException', (error) => {
    log.logger.error({ error: describeThrown(error) }, 'crashed');
    void log.flush().finally(() => process.exit(1));
  });
  const serviceFor = async (named: DialectConfig): Promise<Service> => {
    const [dialect, description] = await Promise.all([
      loadDialect(named.name, config),
      descriptionOf(named.name, config),
    ]);
    const service = forDialect(shared, { dialect, description, boundRoot: named.root });
    if (!usesAgentFiles(config, named)) return service;
    const { withAgentFiles } = await import('../server/call/agent-files.ts');
    return withAgentFiles(service, { config, project: named.project, backend });
  };
  return {
    shared,
    serviceFor,
    log,
    report,
    facts: {
      version: packageVersion(),
      config: config.file,
      roots: config.roots.map(({ name }) => name),
      fence: backend.name,
    },
    close: async () => {
      sweep.stop();
      process.off('SIGUSR2', report.all);
      await shared.close();
      await log.flush();
    },
  };
}

/** Whether a dialect works on files of the client's side. */
export function usesAgentFiles({ roots }: Config, { root, project }: DialectConfig): boolean {
  return project !== undefined || (root === undefined && roots.some(({ agent }) => agent !== undefined));
}
