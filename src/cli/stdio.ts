import { startStdio } from '../server/stdio.ts';
import type { Dialect } from '../tools/dialect.ts';
import { firstSignal } from './signals.ts';
import { configOf, GRACE_MS, type Source, start } from './start.ts';

/** Serves the client at the other end of stdin and stdout until it goes away or we are told to stop. Raises `ConfigError`. */
export async function stdio(dialect: Dialect, source: Source): Promise<void> {
  const config = await configOf(source);
  const stopped = firstSignal();
  const started = start(config, dialect);
  const { logger } = started.log;
  const serving = startStdio(started.service);
  logger.info({ ...started.facts, address: 'stdio' }, 'serving');
  const reason = await Promise.race([stopped, serving.gone.then(() => 'client gone')]);
  logger.info({ reason }, 'stopping');
  await started.service.running.drain(reason === 'client gone' ? 0 : GRACE_MS);
  await serving.close();
  logger.info('stopped');
  await started.close();
}
