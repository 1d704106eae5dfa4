import fs from 'node:fs';
import { type Logger, pino } from 'pino';
import { escapeUnprintable } from '../runtime/printable.ts';
import type { LogLevel } from './log-level.ts';

/**
 * The most log output to buffer while nobody reads stderr. Further lines are dropped, so that a stuck reader cannot
 * stop the server.
 */
const BACKLOG_BYTES = 16 * 1024 * 1024;
const FLUSH_MS = 1_000;
/** Lines are batched for this long, because one write per line costs more than formatting it. */
const BATCH_MS = 20;
const BATCH_LENGTH = 32 * 1024;

/** An open log. */
export interface Log {
  readonly logger: Logger;
  /** Writes all buffered lines, and gives up after a second if nobody reads them. Do not log after this. */
  flush(): Promise<void>;
}

/** Opens a log of JSON lines on stderr. Lines are written asynchronously, so that no call waits for the log. */
export function openLog(level: LogLevel): Log {
  const destination = pino.destination({ fd: openStderr(), sync: false, maxLength: BACKLOG_BYTES });
  let readerGone = false;
  // The server keeps running when stderr is closed.
  destination.on('error', ({ code }: NodeJS.ErrnoException) => {
    readerGone ||= code === 'EPIPE';
  });
  const lines = new LineBatcher((text) => destination.write(text));
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    lines,
  );
  return {
    logger,
    flush: async () => {
      lines.flush();
      if (readerGone || (await flushed(destination))) return;
      // Drop the rest. Otherwise it would be written synchronously at exit and block on the stuck reader.
      destination.destroy();
    },
  };
}

/** Waits until everything is written, and reports whether it was: not on a write error or a timeout. */
function flushed(destination: ReturnType<typeof pino.destination>): Promise<boolean> {
  return new Promise((resolve) => {
    const onDrain = (): void => settle(true);
    const onError = (): void => settle(false);
    const settle = (done: boolean): void => {
      clearTimeout(timer);
      destination.off('drain', onDrain).off('error', onError);
      resolve(done);
    };
    // Not unref'ed: without another pending event the process would end before its exit code is set.
    const timer = setTimeout(onError, FLUSH_MS);
    destination.once('drain', onDrain).once('error', onError);
    destination.write('');
  });
}

/** Collects lines and writes them in batches, each line within 20 ms. */
class LineBatcher {
  readonly #write: (text: string) => void;
  #text = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  write(line: string): void {
    // JSON leaves some characters unescaped that a terminal acts on.
    this.#text += `${escapeUnprintable(line.slice(0, -1))}\n`;
    if (this.#text.length > BATCH_LENGTH) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), BATCH_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    this.#write(text);
  }
}

/**
 * Returns a descriptor for stderr. A pipe is reopened with O_NONBLOCK: a write that blocks on a stuck reader would
 * occupy a libuv thread and keep the process from exiting.
 */
function openStderr(): number {
  const { O_WRONLY, O_NONBLOCK } = fs.constants;
  try {
    if (fs.fstatSync(2).isFIFO()) return fs.openSync('/proc/self/fd/2', O_WRONLY | O_NONBLOCK);
  } catch {
    // There is no /proc, or the pipe belongs to another user.
  }
  return 2;
}
