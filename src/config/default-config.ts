import type { Config } from './config.ts';
import { configSchema } from './schema.ts';

/** What holds where no config file says otherwise: reachable from this machine only. The roots are still missing. */
export function defaultConfig(): Omit<Config, 'roots'> {
  const defaults = configSchema.omit({ roots: true }).parse({});
  return {
    file: undefined,
    host: '127.0.0.1',
    port: defaults.port,
    maxFullReadSize: defaults.max_full_read_size,
    requestTimeout: defaults.request_timeout,
    logLevel: defaults.log_level,
    durableWrites: defaults.durable_writes,
    auth: undefined,
    dialects: [{ name: 'workspace', root: undefined }],
  };
}
