import type { Config } from './config.ts';

/** The upper bound of every configurable timeout: one day. */
export const MAX_TIMEOUT_SECONDS = 24 * 60 * 60;
/** The most that an operator may set for `max_full_read_size`: several calls at once hold that much in memory. */
export const MAX_FULL_READ_SIZE = 64 * 1024 * 1024;
/**
 * The least that an operator may set for `max_result_chars`: less would hold neither a path nor how to get the rest.
 */
export const MIN_RESULT_CHARS = 1_000;
/** The most calls that an operator may set for `rate_limit`. */
export const MAX_CALLS = 1_000_000;
/**
 * The least that an operator may set for `limits.memory`: less would hold no upload of full size beside a few calls.
 */
export const MIN_MEMORY = 64 * 1024 * 1024;
/** How many patterns `deny` and `protect` may have each: every entry of a listing is compared with all of them. */
export const MAX_PATTERNS = 500;
/** The default cache size per client for client-side files. */
export const DEFAULT_CACHE_BYTES = 64 * 1024 * 1024;
/** The default time to wait for a client's answer. */
export const DEFAULT_ASK_SECONDS = 30;

/** The defaults of the config keys. */
export const DEFAULTS = {
  port: 8091,
  maxFullReadSize: 1_048_576,
  requestTimeout: 30,
  confirmTimeout: 60,
  results: 'auto',
  annotations: 'spec',
  logLevel: 'info',
  durableWrites: true,
  memory: 512 * 1024 * 1024,
  console: false,
} as const;

/** Returns the config of a server without a config file, except its roots. It listens on the loopback address only. */
export function defaultConfig(): Omit<Config, 'roots'> {
  return {
    ...DEFAULTS,
    file: undefined,
    host: '127.0.0.1',
    auth: undefined,
    landlock: undefined,
    logFile: undefined,
    rateLimit: undefined,
    maxResultChars: undefined,
    dialects: [{ name: 'workspace', root: undefined }],
  };
}
