import fs from 'node:fs';
import { promisify } from 'node:util';
import { escapeUnprintable } from '../runtime/printable.ts';
import { FLUSH_MS, LineBatcher, type Log, loggerTo } from './log.ts';
import type { LogLevel } from './log-level.ts';

/** The most to keep while nothing can be written. Further lines are dropped, so that a full disk costs no memory. */
const BACKLOG_BYTES = 16 * 1024 * 1024;
/** How long to wait after a failure, and how often it is looked whether the file was removed. */
const RETRY_MS = 1_000;

const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK, O_NOCTTY } = fs.constants;

/** Options of `openLogFile`. */
export interface LogFileOptions {
  readonly level: LogLevel;
  /** Tells a person about trouble with the file. */
  readonly warn: Warn;
  /** What each line has besides. */
  readonly fields?: object | null | undefined;
}

type Warn = (problem: string) => void;

/**
 * Opens a log of lines of JSON in a file, which is created for its owner alone. The server goes on while it cannot be
 * written; `warn` tells a person. Raises the system error of opening it.
 */
export function openLogFile(path: string, { level, warn, fields = null }: LogFileOptions): Log {
  const file = new LogFile(path, warn);
  const lines = new LineBatcher((text) => file.write(text), escapeUnprintable);
  return {
    logger: loggerTo(lines, level, fields),
    pass: (json) => lines.write(`${json}\n`),
    reopen: () => {
      // What happened before belongs to the old file.
      lines.flush();
      file.reopen();
    },
    flush: async () => {
      lines.flush();
      await file.flush(FLUSH_MS);
    },
  };
}

/**
 * A log file, which nobody but its owner may read. It is written asynchronously, in whole lines. What cannot be written,
 * because the disk is full or the folder is gone, is kept for later, up to 16 MB, and said once.
 */
class LogFile {
  readonly #path: string;
  readonly #warn: Warn;
  #fd: number;
  /** Whole lines that are not written yet, in their order. */
  #pending: Buffer[] = [];
  #bytes = 0;
  #dropped = 0;
  #isBusy = false;
  #isFailing = false;
  #reopens = false;
  /** How many bytes of the first pending lines are in the file. */
  #written = 0;
  #checkedAt = performance.now();
  #retry: NodeJS.Timeout | undefined;
  #whenIdle: (() => void)[] = [];

  /** Opens the file, or creates it for its owner alone. Raises system errors. */
  constructor(path: string, warn: Warn) {
    this.#path = path;
    this.#warn = warn;
    this.#fd = openToAppend(path);
  }

  /** Writes whole lines, soon. */
  write(lines: string): void {
    const bytes = Buffer.from(lines);
    if (this.#bytes + bytes.length > BACKLOG_BYTES) {
      this.#dropped += 1;
      return;
    }
    this.#pending.push(bytes);
    this.#bytes += bytes.length;
    if (this.#retry === undefined) void this.#run();
  }

  /** Opens the file anew by its name, between two lines: it was renamed, and the next lines go to a new one. */
  reopen(): void {
    this.#reopens = true;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    void this.#run();
  }

  /** Waits until everything is written, at most so long, and reports whether it was. */
  async flush(milliseconds: number): Promise<boolean> {
    if (this.#bytes === 0 && !this.#isBusy) return true;
    return new Promise((resolve) => {
      // Not unref'ed: without another pending event the process would end before its exit code is set.
      const timer = setTimeout(() => resolve(false), milliseconds);
      this.#whenIdle.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  /** Writes what is pending, unless that is under way. A failure is tried again later. */
  async #run(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (;;) {
        this.#renew();
        const [lines] = this.#pending;
        if (lines === undefined) break;
        await this.#append(lines);
      }
      if (this.#isFailing) this.#recover();
    } catch (error) {
      this.#fail(error as NodeJS.ErrnoException);
    } finally {
      this.#isBusy = false;
    }
    if (this.#bytes === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Writes the first pending lines. What is left of them after a failure is written first next time. */
  async #append(lines: Buffer): Promise<void> {
    const { bytesWritten } = await write(this.#fd, lines.subarray(this.#written));
    this.#written += bytesWritten;
    if (this.#written < lines.length) return;
    this.#pending.shift();
    this.#bytes -= lines.length;
    this.#written = 0;
  }

  /**
   * Opens the file anew if that was asked for, not between the parts of one line, or if it was removed. Then a line that
   * was begun goes to the new file as a whole: nobody could find it in the old one, which keeps its room on a full disk.
   */
  #renew(): void {
    if (!(this.#reopens && this.#written === 0) && !this.#wasRemoved()) return;
    const before = this.#fd;
    try {
      this.#fd = openToAppend(this.#path);
    } catch (error) {
      // Without a new file, lines still go to the old one, unless nobody could find them there.
      if (!this.#reopens || isRemoved(before)) throw error;
      this.#warn(`${this.#path} cannot be opened anew (${codeOf(error)}); the log goes on in the renamed file`);
      this.#reopens = false;
      return;
    }
    this.#reopens = false;
    this.#written = this.#pending[0] === undefined ? 0 : lineStart(this.#pending[0], this.#written);
    fs.closeSync(before);
  }

  #wasRemoved(): boolean {
    const now = performance.now();
    if (!this.#isFailing && now - this.#checkedAt < RETRY_MS) return false;
    this.#checkedAt = now;
    return isRemoved(this.#fd);
  }

  #fail(error: NodeJS.ErrnoException): void {
    if (!this.#isFailing) this.#warn(`${this.#path} cannot be written (${codeOf(error)}); lines are kept for later`);
    this.#isFailing = true;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      void this.#run();
    }, RETRY_MS).unref();
  }

  #recover(): void {
    this.#isFailing = false;
    const lost = this.#dropped > 0 ? `, without ${this.#dropped} batches of lines for which there was no room` : '';
    this.#dropped = 0;
    this.#warn(`${this.#path} is written again${lost}`);
  }
}

const write = promisify(fs.write) as (fd: number, bytes: Buffer) => Promise<{ bytesWritten: number }>;

function openToAppend(path: string): number {
  // Without O_NONBLOCK, opening a FIFO would wait for its reader.
  const fd = fs.openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY, 0o600);
  if (fs.fstatSync(fd).isFile()) return fd;
  fs.closeSync(fd);
  throw Object.assign(new Error('not a regular file'), { code: 'not a regular file' });
}

/** Returns where the line begins that goes on at an offset. */
function lineStart(lines: Buffer, offset: number): number {
  return offset === 0 ? 0 : lines.lastIndexOf('\n', offset - 1) + 1;
}

/** Reports whether an open file has no name any more, so that nobody could find what is written to it. */
function isRemoved(fd: number): boolean {
  return fs.fstatSync(fd).nlink === 0;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error';
}
