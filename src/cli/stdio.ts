import { type Config, ConfigError, type DialectConfig } from '../config/index.ts';
import { startStdio } from '../server/stdio.ts';
import { firstSignal } from './signals.ts';
import { GRACE_MS, start } from './start.ts';

/** Serves the client at the other end of stdin and stdout until it goes away or we are told to stop. Raises `ConfigError`. */
export async function stdio(config: Config, dialect: DialectConfig): Promise<void> {
  const stopped = firstSignal();
  const started = await start(config, dialect);
  const { logger } = started.log;
  const serving = startStdio(started.service);
  logger.info({ ...started.facts, dialect: dialect.name, address: 'stdio' }, 'serving');
  const reason = await Promise.race([stopped, serving.gone.then(() => 'client gone')]);
  logger.info({ reason }, 'stopping');
  await started.service.running.drain(reason === 'client gone' ? 0 : GRACE_MS);
  await serving.close();
  logger.info('stopped');
  await started.close();
}

/** The dialect of `ringfence stdio`. Raises `ConfigError` for a config that names only others. */
export function workspaceOf({ dialects, file }: Config): DialectConfig {
  const found = dialects.find(({ name }) => name === 'workspace');
  if (found !== undefined) return found;
  const names = dialects.map(({ name }) => name);
  const commands = names.map((name) => `"ringfence ${name}"`).join(' or ');
  throw new ConfigError(
    `${file}: dialects: names only ${names.join(' and ')}, but "ringfence stdio" speaks workspace; add workspace: {}, ` +
      `start the others over HTTP with "ringfence serve --config ${file}", or over stdio with ${commands}`,
  );
}
