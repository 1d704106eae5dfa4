import type { FormatLine } from '../audit/log.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { printable } from '../runtime/printable.ts';
import { type ConfigSource, loadConfigSource } from './start.ts';

/** The command line of `ringfence serve`. */
export interface ServeOptions extends ConfigSource {
  readonly host?: string;
  readonly port?: string;
  readonly logFormat?: string;
}

/** Returns the config with what the command line says instead. Raises `ConfigError`. */
export async function loadServeConfig(options: ServeOptions): Promise<Config> {
  return withOverrides(await loadConfigSource(options), options);
}

/** Returns how the log is written: for people if they read it on a terminal. Raises `ConfigError`. */
export async function lineFormat(format = process.stderr.isTTY ? 'pretty' : 'json'): Promise<FormatLine | undefined> {
  if (format === 'json') return undefined;
  if (format !== 'pretty') throw new ConfigError(`--log-format: must be json or pretty, got ${printable(format)}`);
  return (await import('./terminal/log-line.ts')).lineFormatFor(process.stderr);
}

function withOverrides(config: Config, { host, port }: ServeOptions): Config {
  if (host === '') throw new ConfigError('--host: must be an address, got an empty one');
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65535)) {
    throw new ConfigError(`--port: must be an integer from 0 to 65535, got "${port}"`);
  }
  return { ...config, ...(host !== undefined && { host }), ...(port !== undefined && { port: Number(port) }) };
}
