import type { Log } from '../audit/log.ts';
import type { Config, RootConfig } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Hardening } from '../hardening/harden.ts';
import { isAdmitted, isKeptFrom } from '../hardening/jail.ts';
import type { LandlockPolicy } from '../hardening/landlock.ts';
import { accessTo, landlockPolicy } from '../hardening/policy.ts';
import type { RootUpkeep } from '../server/background/root-upkeep.ts';
import type { ReloadableService } from '../server/call/service.ts';
import { changesBetween, servableNow } from './config-changes.ts';
import type { DescribedDialects } from './load-dialect.ts';

/** Says why roots of a new config are not served. */
export const NOT_ADMITTED = "roots need a restart: the kernel's jail (Landlock) cannot be widened to them";

/** Says that some keys of a new config are not applied. */
export const KEYS_NEED_RESTART = 'config keys need a restart';

/** A server whose config can be replaced. */
export interface ReloadableServer {
  readonly shared: ReloadableService;
  readonly upkeep: RootUpkeep;
  readonly described: DescribedDialects;
  readonly log: Log;
  readonly hardening: Hardening;
  /** The config of the start, which the kernel holds the process to. */
  readonly started: Config;
  readonly options: {
    readonly listens: boolean;
    /** Called with each config that is served instead of another. */
    readonly onReload?: ((config: Config) => void) | undefined;
  };
  /** The config that is served. */
  config: Config;
}

/**
 * Loads a config and serves it from the next call on, all of it or, if it is wrong, nothing. What needs a new start
 * stays as it was, and is named in the log.
 */
export async function reloadConfig(server: ReloadableServer, load: () => Promise<Config>): Promise<void> {
  const { logger } = server.log;
  try {
    const { config, restart } = servableNow(server.config, await load());
    const { roots, refused } = admittedRoots(config.roots, server);
    const next = { ...config, roots };
    const before = server.config;
    await serve(server, next);
    logger.info(changesBetween(before, next), 'config reloaded');
    if (restart.length > 0) logger.warn({ keys: restart }, KEYS_NEED_RESTART);
    if (refused.length > 0) logger.warn({ roots: refused }, NOT_ADMITTED);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problem = error.message + jailHint(server);
    logger.error({ problem }, 'config not reloaded');
    if (process.stderr.isTTY) process.stderr.write(`ringfence: config not reloaded: ${problem}\n`);
  }
}

function jailHint({ config: { file } }: ReloadableServer): string {
  if (file === undefined || !isKeptFrom(file)) return '';
  return "; the kernel's jail (Landlock) admits the file of the start only: write it in place, keep it in a folder of its own, or restart";
}

/** Opens everything first, and then replaces it in one turn of the event loop. Raises `ConfigError`. */
async function serve(server: ReloadableServer, config: Config): Promise<void> {
  const { shared, upkeep, described, log } = server;
  const { openHistory } = await import('../server/call/roots/open-history.ts');
  const describe = await described.prepare(config);
  const prepared = shared.prepare(config, openHistory);
  try {
    await upkeep.makeReady(prepared.fresh);
  } catch (error) {
    prepared.abandon();
    throw error;
  }
  const retired = prepared.commit();
  describe();
  log.logger.level = config.logLevel;
  server.config = config;
  server.options.onReload?.(config);
  upkeep.start(prepared.fresh);
  for (const { root } of retired) upkeep.stop(root);
}

/**
 * Leaves out the roots that the kernel keeps this process from. One that was served before and is only to be used in more
 * ways stays as it was.
 */
export function admittedRoots(
  roots: readonly RootConfig[],
  server: Pick<ReloadableServer, 'hardening' | 'started' | 'options' | 'config'>,
) {
  const { hardening, started, options, config } = server;
  if (typeof hardening === 'string') return { roots, refused: [] };
  const policy: LandlockPolicy = landlockPolicy(started, options);
  const refused: string[] = [];
  const admitted = roots.flatMap((root) => {
    if (root.path === undefined || isAdmitted({ path: root.path, access: accessTo(root) }, policy)) return [root];
    refused.push(root.name);
    return config.roots.filter(({ name, path }) => name === root.name && path === root.path);
  });
  return { roots: admitted, refused };
}
