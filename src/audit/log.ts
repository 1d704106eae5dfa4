import fs from 'node:fs';
import { type Logger, pino } from 'pino';
import type { LogLevel } from './log-level.ts';

/** Unwritten log that may pile up when nobody reads stderr. Beyond it lines are dropped: a stuck reader must not stop the server. */
const BACKLOG_BYTES = 16 * 1024 * 1024;
const FLUSH_MS = 1_000;
/** Lines of so long are written together: a write of its own would cost a call more than all else about its line. */
const GATHER_MS = 20;
const GATHER_BYTES = 32 * 1024;

export interface Log {
  readonly logger: Logger;
  /** Waits until what was logged is written, but not for a reader that is stuck. The last thing to do before the end. */
  flush(): Promise<void>;
}

/** JSON lines on stderr, written behind the callers' backs, so that no call waits for the log. */
export function openLog(level: LogLevel): Log {
  const destination = pino.destination({ fd: openStderr(), sync: false, maxLength: BACKLOG_BYTES });
  let readerGone = false;
  // A closed stderr is no reason to stop serving.
  destination.on('error', ({ code }: NodeJS.ErrnoException) => {
    readerGone ||= code === 'EPIPE';
  });
  const lines = new GatheredLines((text) => destination.write(text));
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
      if (readerGone || (await drained(destination))) return;
      // What the reader does not take is dropped, or writing it at exit would wait for the reader again.
      destination.destroy();
    },
  };
}

/** Whether all that was handed over is written in time; false also if writing fails. */
function drained(destination: ReturnType<typeof pino.destination>): Promise<boolean> {
  return new Promise((resolve) => {
    const onDrain = (): void => settle(true);
    const onError = (): void => settle(false);
    const settle = (done: boolean): void => {
      clearTimeout(timer);
      destination.off('drain', onDrain).off('error', onError);
      resolve(done);
    };
    // This timer must keep the process alive: with nothing else to wait for, it would end before its exit code is set.
    const timer = setTimeout(onError, FLUSH_MS);
    destination.once('drain', onDrain).once('error', onError);
    destination.write('');
  });
}

/** Hands on lines in bundles, each line within 20 ms. */
class GatheredLines {
  readonly #hand: (text: string) => void;
  #text = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(hand: (text: string) => void) {
    this.#hand = hand;
  }

  write(line: string): void {
    this.#text += line;
    if (this.#text.length > GATHER_BYTES) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    this.#hand(text);
  }
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
