/**
 * The log levels from the fewest to the most lines. In a file of its own, so that reading a config does not load the
 * logger.
 */
export const LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const;
/** How much is logged. */
export type LogLevel = (typeof LOG_LEVELS)[number];
