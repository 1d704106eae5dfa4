import type { Config } from './config.ts';

export const MAX_TIMEOUT_SECONDS = 24 * 60 * 60;
/** The most that an operator may set for `max_full_read_size`: several calls at once hold that much in memory. */
export const MAX_FULL_READ_SIZE = 64 * 1024 * 1024;
export const DEFAULT_CACHE_BYTES = 64 * 1024 * 1024;
export const DEFAULT_ASK_SECONDS = 30;

/** What holds where a config says nothing else. */
export const DEFAULTS = {
  port: 8091,
  maxFullReadSize: 1_048_576,
  requestTimeout: 30,
  logLevel: 'info',
  durableWrites: true,
} as const;

/** What holds where no config file says otherwise: reachable from this machine only. The roots are still missing. */
export function defaultConfig(): Omit<Config, 'roots'> {
  return {
    ...DEFAULTS,
    file: undefined,
    host: '127.0.0.1',
    auth: undefined,
    dialects: [{ name: 'workspace', root: undefined }],
  };
}
