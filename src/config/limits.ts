export const MAX_TIMEOUT_SECONDS = 24 * 60 * 60;
/** What one read may hold in memory. An answer carries less: of a larger part only the beginning, and a whole file not at all. */
export const MAX_READ_SIZE = 64 * 1024 * 1024;

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
