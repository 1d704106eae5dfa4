import type { Config, DialectConfig } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { startStdio } from '../server/stdio/stdio-server.ts';
import { descriptionOf } from './load-dialect.ts';
import { firstSignal } from './signals.ts';
import { GRACE_MS, loadSource, type Source, start, usesAgentFiles } from './start.ts';

/** The same in the dialect of `ringfence stdio`. Raises `ConfigError`. */
export async function workspaceStdio(source: Source): Promise<void> {
  const config = await loadSource(source);
  await stdio(config, workspaceOf(config));
}

/** Serves the client at the other end of stdin and stdout until it goes away or we are told to stop. Raises `ConfigError`. */
export async function stdio(config: Config, dialect: DialectConfig): Promise<void> {
  const stopped = firstSignal();
  const { shared, serviceFor, report, facts, close } = start(config);
  const { logger, running } = shared;
  // What an operator got wrong about files of the client's side shows only when they are opened.
  const ready = usesAgentFiles(config, dialect) ? await serviceFor(dialect) : undefined;
  const serving = startStdio({
    description: await descriptionOf(dialect.name, config),
    shared,
    load: async () => ready ?? serviceFor(dialect),
  });
  logger.info({ ...facts, dialect: dialect.name, address: 'stdio' }, 'serving');
  const reason = await Promise.race([stopped, serving.gone.then(() => 'client gone')]);
  logger.info({ reason }, 'stopping');
  await running.drain(reason === 'client gone' ? 0 : GRACE_MS);
  await serving.close();
  report.stop();
  logger.info('stopped');
  await close();
}

/** The dialect of `ringfence stdio`. Raises `ConfigError` for a config that names only others. */
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
