import { announce } from './banner.ts';
import { listenAt } from './listen-error.ts';
import { lineFormat, loadServeConfig, type ServeOptions } from './serve-options.ts';
import { startServing } from './serving.ts';
import { signalsFor } from './signals.ts';

/**
 * Serves over HTTP until SIGTERM or SIGINT. SIGHUP loads the config file again, see `signalsFor`. Raises `ConfigError`
 * and `ListenError`.
 */
export async function serve(options: ServeOptions): Promise<void> {
  const load = () => loadServeConfig(options);
  const config = await load();
  const formatLine = await lineFormat(options.logFormat);
  const { stopped, begin } = signalsFor(config.file === undefined ? undefined : load);
  const serving = await startServing(config, {
    listens: true,
    formatLine,
    listen: (attempt) => listenAt(config, options, attempt),
  });
  announce(config, serving.started.log.logger, serving);
  begin(serving.started);
  await serving.stop({ signal: await stopped });
}
