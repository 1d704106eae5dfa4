import fs from 'node:fs';
import { type Logger, pino } from 'pino';
import { escapeUnprintable } from '../runtime/printable.ts';
import type { LogLevel } from './log-level.ts';

/**
 * The most log output to buffer while nobody reads stderr. Further lines are dropped, so that a stuck reader cannot
 * stop the server.
 */
const BACKLOG_BYTES = 16 * 1024 * 1024;
/** How long the last lines may take to be written. */
export const FLUSH_MS = 1_000;
/** Lines are batched for this long, because one write per line costs more than formatting it. */
const BATCH_MS = 20;
const BATCH_LENGTH = 32 * 1024;

/** An open log. */
export interface Log {
  readonly logger: Logger;
  /** Writes a line of JSON, without its line break, that another process has logged. */
  pass(json: string): void;
  /** Opens the file of the log anew, after somebody has renamed it. Does nothing for a log on stderr. */
  reopen(): void;
  /** Writes all buffered lines, and gives up after a second if nobody reads them. Do not log after this. */
  flush(): Promise<void>;
}

/**
 * Returns what is written for a line of JSON, without its line break. It must hold no characters that a terminal acts on,
 * except for its own colours.
 */
export type FormatLine = (json: string) => string;

/**
 * Opens a log of lines on stderr: JSON, in which what a terminal would act on is escaped, unless `format` writes them
 * otherwise. Each line has the given fields. Lines are written asynchronously, so that no call waits for the log.
 */
export function openLog(level: LogLevel, format: FormatLine = escapeUnprintable, fields: object | null = null): Log {
  const destination = pino.destination({ fd: openStderr(), sync: false, maxLength: BACKLOG_BYTES });
  let readerGone = false;
  // The server keeps running when stderr is closed.
  destination.on('error', ({ code }: NodeJS.ErrnoException) => {
    readerGone ||= code === 'EPIPE';
  });
  const lines = new LineBatcher((text) => destination.write(text), format);
  return {
    logger: loggerTo(lines, level, fields),
    pass: (json) => lines.write(`${json}\n`),
    reopen: () => {},
    flush: async () => {
      lines.flush();
      // Without a line there is no write whose end could be waited for.
      if (!lines.hasWritten || readerGone || (await flushed(destination))) return;
      // Drop the rest. Otherwise it would be written synchronously at exit and block on the stuck reader.
      destination.destroy();
    },
  };
}

/** Returns a logger that writes lines of JSON, each with the given fields. */
export function loggerTo(lines: LineBatcher, level: LogLevel, fields: object | null): Logger {
  return pino(
    {
      level,
      base: fields,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    lines,
  );
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
export class LineBatcher {
  readonly #write: (text: string) => void;
  readonly #format: FormatLine;
  /** Whether anything was written so far. */
  hasWritten = false;
  #text = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(write: (text: string) => void, format: FormatLine) {
    this.#write = write;
    this.#format = format;
  }

  write(line: string): void {
    // JSON leaves some characters unescaped that a terminal acts on, so no line is written without a format.
    this.#text += `${this.#format(line.slice(0, -1))}\n`;
    if (this.#text.length > BATCH_LENGTH) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), BATCH_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    this.hasWritten = true;
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
