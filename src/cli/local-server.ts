import { PassThrough } from 'node:stream';
import { StreamChannel } from '../client/stream-channel.ts';
import type { Config, DialectConfig, DialectName } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { startStdio } from '../server/stdio/stdio-server.ts';
import { didYouMean } from '../tools/nearest.ts';
import type { StartLocalServer } from './call/call.ts';
import { start } from './start.ts';
import { lineFormatFor } from './terminal/log-line.ts';

const DIALECTS: readonly DialectName[] = ['workspace', 'memory', 'classic', 'guide'];

/**
 * Serves a dialect of a config, workspace if none is named, to a client in this process, with the same guards as `ringfence stdio`: the kernel
 * confines this process to the roots from then on. Only what is wrong with the server itself is logged. Raises
 * `ConfigError`.
 */
export const startLocalServer: StartLocalServer = async (config, named) => {
  const dialect = dialectOf(config, named);
  const quiet: Config = { ...config, logLevel: 'error', logFile: undefined };
  const server = await start(quiet, { listens: false, formatLine: lineFormatFor(process.stderr) });
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  const serving = startStdio({
    description: await server.descriptionOf(dialect),
    shared: server.shared,
    load: () => server.serviceFor(dialect),
    streams: { input: toServer, output: toClient },
  });
  const channel = new StreamChannel(toClient, toServer);
  return {
    channel,
    close: async () => {
      await server.shared.running.drain(0);
      await serving.close();
      await server.report.stop();
      await channel.close();
      await server.close();
    },
  };
};

/**
 * Returns the dialect of a config to call: the named one, else workspace, else the first. Folders without a config
 * speak each dialect that works on one root. Raises `ConfigError`.
 */
function dialectOf({ file, dialects, roots }: Config, named: string | undefined): DialectConfig {
  const name = DIALECTS.find((each) => each === named);
  if (named !== undefined && name === undefined) {
    throw new ConfigError(
      `--dialect: must be one of ${DIALECTS.join(', ')}, got "${named}"${didYouMean(named, DIALECTS)}`,
    );
  }
  const configured = dialects.find((each) => each.name === (name ?? 'workspace'));
  if (configured !== undefined) return configured;
  if (name === undefined) return dialects[0];
  if (file !== undefined) {
    throw new ConfigError(`${file}: dialects: has no ${name}, only ${dialects.map((each) => each.name).join(', ')}`);
  }
  if (name === 'guide') throw new ConfigError('--dialect: guide needs a config, with dialects.guide.project');
  const [only, ...more] = roots;
  if (only === undefined || more.length > 0)
    throw new ConfigError(`--dialect: ${name} works on one folder; give one --root`);
  return { name, root: only.name };
}
