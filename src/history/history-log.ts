import { type Dir, isFenceError, type OpenFile } from '../fence/index.ts';
import { decodeLine, encodeLine } from './log-line.ts';
import type { LogRecord } from './step.ts';

/** The size at which a segment ends. Reading one takes some tens of milliseconds. */
const SEGMENT_BYTES = 4 * 1024 * 1024;
/** How long a mark may wait for the next record, with which it is written for nothing. */
const MARK_DELAY_MS = 20;
/** How long a process that has written nothing still takes its segment for the newest. */
const TRUST_MS = 500;
const NUMBER_LENGTH = 8;
const SEGMENT_NAME = /^\d{8}$/;

/**
 * The log of a root's changes: segments of lines, each with a checksum. All processes append to the newest segment, by
 * writes of whole lines, so no lock is needed. A killed process may leave an unfinished line, which counts as nothing.
 *
 * Segments are numbered. What a step keeps is in a folder with the number of the step's segment, so that old history is
 * removed a segment at a time.
 */
export class HistoryLog implements Disposable {
  readonly #dir: Dir;
  #file: OpenFile | undefined;
  #segment = 0;
  #written = 0;
  #lastWrite = 0;
  #marks = '';
  #timer: NodeJS.Timeout | undefined;
  #syncing: Promise<void> | undefined;
  /** Ends when the names of new segments, and all that was written to former ones, are on disk. */
  #settled: Promise<unknown> = Promise.resolve();

  /** Takes over the folder of the log. */
  constructor(dir: Dir) {
    this.#dir = dir;
  }

  /** Returns the number of the segment that the next record goes to. */
  current(): number {
    const file = this.#file;
    const isTrusted = file !== undefined && this.#written < SEGMENT_BYTES && Date.now() - this.#lastWrite < TRUST_MS;
    if (!isTrusted) this.#openNewest();
    return this.#segment;
  }

  /** Ends the newest segment, so that the next record begins another. */
  rotate(): void {
    this.#open(this.current() + 1);
  }

  /** Writes a record, and the marks that were waiting. */
  append(record: LogRecord): void {
    const line = encodeLine(record);
    this.#write(this.#marks + line);
  }

  /** Writes a mark with the next record, or soon. If the process is killed before, `settle` finds out what it said. */
  mark(record: LogRecord): void {
    this.#marks += encodeLine(record);
    this.#timer ??= setTimeout(() => this.writeMarks(), MARK_DELAY_MS).unref();
  }

  /** Writes the marks that are waiting. */
  writeMarks(): void {
    if (this.#marks !== '') this.#write(this.#marks);
  }

  /** Flushes what was written to disk. Calls that come while a flush waits for the disk share the next one. */
  flush(): Promise<void> {
    this.#syncing ??= Promise.resolve().then(async () => {
      this.#syncing = undefined;
      await Promise.all([this.#file?.syncData(), this.#settled]);
    });
    return this.#syncing;
  }

  /** Returns the numbers of all segments, oldest first. */
  segments(): number[] {
    const names = this.#dir.list().filter(({ name }) => SEGMENT_NAME.test(name));
    return names.map(({ name }) => Number(name)).sort((a, b) => a - b);
  }

  /** Reads the records of a segment, oldest first. None if it has been removed. */
  read(segment: number): LogRecord[] {
    const records: LogRecord[] = [];
    for (const line of this.#text(segment).split('\n')) {
      const record = decodeLine(line);
      if (record !== undefined) records.push(record);
    }
    return records;
  }

  [Symbol.dispose](): void {
    this.writeMarks();
    this.#file?.[Symbol.dispose]();
    this.#file = undefined;
    this.#dir[Symbol.dispose]();
  }

  #text(segment: number): string {
    try {
      using file = this.#dir.openFile(segmentName(segment));
      const bytes = Buffer.allocUnsafe(file.size);
      return bytes.toString('utf8', 0, file.read(bytes, 0));
    } catch (error) {
      if (isFenceError(error, 'not_found')) return '';
      throw error;
    }
  }

  #write(text: string): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#marks = '';
    if (this.#file === undefined) this.current();
    const bytes = Buffer.from(text);
    (this.#file as OpenFile).writeAll(bytes);
    this.#written += bytes.length;
    this.#lastWrite = Date.now();
  }

  #openNewest(): void {
    const newest = this.segments().at(-1) ?? 1;
    if (this.#file === undefined || newest !== this.#segment) this.#open(newest);
    if (this.#written >= SEGMENT_BYTES) this.#open(newest + 1);
    this.#lastWrite = Date.now();
  }

  #open(segment: number): void {
    const former = this.#file;
    const file = openOrCreate(this.#dir, segmentName(segment));
    this.#file = file;
    this.#segment = segment;
    this.#written = file.size;
    this.#settled = Promise.all([this.#settled, this.#dir.sync(), former && retire(former)]);
    // Whoever waits for the disk hears of a failure; without anybody, nobody relies on it.
    this.#settled.catch(() => {});
  }
}

async function retire(file: OpenFile): Promise<void> {
  try {
    await file.syncData();
  } finally {
    await file.closeAsync();
  }
}

/** Returns the name of a segment, and of the folder with what its steps keep. */
export function segmentName(segment: number): string {
  return String(segment).padStart(NUMBER_LENGTH, '0');
}

function openOrCreate(dir: Dir, name: string): OpenFile {
  try {
    return dir.openForAppend(name);
  } catch (error) {
    if (!isFenceError(error, 'not_found')) throw error;
  }
  try {
    dir.createFile(name, 0o600)[Symbol.dispose]();
  } catch (error) {
    if (!isFenceError(error, 'already_exists')) throw error;
  }
  return dir.openForAppend(name);
}
