import type { Config, DialectConfig } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { startStdio } from '../server/stdio/stdio-server.ts';
import { signalsFor } from './signals.ts';
import { type ConfigSource, GRACE_MS, keepingHistory, loadConfigSource, start, usesAgentFiles } from './start.ts';

/**
 * Serves the workspace dialect over stdin and stdout until the client disconnects, or SIGTERM or SIGINT. SIGHUP loads the
 * config again. Raises `ConfigError`.
 */
export async function workspaceStdio(source: ConfigSource): Promise<void> {
  const load = () => loadConfigSource(source);
  const config = await load();
  await stdio(config, workspaceOf(config), source.config === undefined ? undefined : load);
}

/** Serves the first dialect of a config, as `workspaceStdio` does. Raises `ConfigError`. */
export async function boundStdio(config: Config, history?: boolean): Promise<void> {
  await stdio(await keepingHistory(config, history), config.dialects[0]);
}

/** `load` loads the config file again; undefined without one, and then SIGHUP stops the server. */
async function stdio(config: Config, dialect: DialectConfig, load?: () => Promise<Config>): Promise<void> {
  const { stopped, begin } = signalsFor(load);
  const started = await start(config, { listens: false });
  const { shared, serviceFor, descriptionOf, report, facts, close } = started;
  const { logger, running } = shared;
  // Opened before the start is announced: mistakes in the configuration of client-side files are found only by opening
  // them.
  const ready = usesAgentFiles(config, dialect) ? await serviceFor(dialect) : undefined;
  const serving = startStdio({
    description: await descriptionOf(dialect),
    shared,
    load: async () => ready ?? serviceFor(dialect),
  });
  logger.info({ ...facts, dialect: dialect.name, address: 'stdio' }, 'serving');
  begin(started);
  const reason = await Promise.race([stopped, serving.gone.then(() => 'client gone')]);
  logger.info({ reason }, 'stopping');
  await running.drain(reason === 'client gone' ? 0 : GRACE_MS);
  await serving.close();
  await report.stop();
  logger.info('stopped');
  await close();
}

/** Returns the workspace dialect of a config. Raises `ConfigError` if the config names only other dialects. */
function workspaceOf({ dialects, file }: Config): DialectConfig {
  const found = dialects.find(({ name }) => name === 'workspace');
  if (found !== undefined) return found;
  const names = dialects.map(({ name }) => name);
  const commands = names.map((name) => `"ringfence ${name}"`).join(' or ');
  throw new ConfigError(
    `${file}: dialects: names only ${names.join(' and ')}, but "ringfence stdio" speaks workspace; add workspace: {}, ` +
      `start the others over HTTP with "ringfence serve --config ${file}", or over stdio with ${commands}`,
  );
}
