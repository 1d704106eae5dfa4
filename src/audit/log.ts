import { once } from 'node:events';
import fs from 'node:fs';
import { type Logger, pino } from 'pino';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Unwritten log that may pile up when nobody reads stderr. Beyond it lines are dropped: a stuck reader must not stop the server. */
const BACKLOG_BYTES = 16 * 1024 * 1024;
const FLUSH_MS = 1_000;

export interface Log {
  readonly logger: Logger;
  /** Waits until what was logged is written, but not for a reader that is stuck. The last thing to do before the end. */
  flush(): Promise<void>;
}

/** JSON lines on stderr, written behind the callers' backs, so that no call waits for the log. */
export function openLog(level: LogLevel): Log {
  const destination = pino.destination({ fd: openStderr(), sync: false, maxLength: BACKLOG_BYTES });
  // A closed stderr is no reason to stop serving.
  destination.on('error', () => {});
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return {
    logger,
    flush: async () => {
      const drained = once(destination, 'drain');
      destination.write('');
      const late = AbortSignal.timeout(FLUSH_MS);
      await Promise.race([drained, once(late, 'abort')]);
      // What the reader does not take is dropped, or writing it at exit would wait for the reader again.
      if (late.aborted) destination.destroy();
    },
  };
}

/**
 * Stderr, opened anew without blocking where it is a pipe: a write that blocks for good, because the reader is stuck, would
 * keep its thread and with it the whole process from ending.
 */
function openStderr(): number {
  const { O_WRONLY, O_NONBLOCK } = fs.constants;
  try {
    if (fs.fstatSync(2).isFIFO()) return fs.openSync('/proc/self/fd/2', O_WRONLY | O_NONBLOCK);
  } catch {
    // No /proc, or a pipe that belongs to another user.
  }
  return 2;
}
