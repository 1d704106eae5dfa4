import { type Dir, FenceError, type OpenFile } from '../../fence/index.ts';
import { encodeLine } from './log-line.ts';
import { decodeRecords, type IndexedSegment, SegmentFolder } from './segment-folder.ts';
import type { LogRecord } from './step.ts';

/** The size at which a segment ends. Reading one takes some tens of milliseconds. */
const SEGMENT_BYTES = 4 * 1024 * 1024;
/** How long a mark may wait for the next record, with which it is written for nothing. */
const MARK_DELAY_MS = 20;
/** How long a process takes its segment for the newest without looking. */
const TRUST_MS = 500;
/** How much of a segment is read to find its first step. */
const HEAD_BYTES = 64 * 1024;

/** What else ends a segment besides its own size, since old history is removed by whole segments. */
export interface SegmentLimits {
  /** How many bytes of content its steps may keep, unless it is one step alone that keeps more. */
  readonly keptBytes: number;
  /** How long steps may be added, in milliseconds. */
  readonly ageMs: number;
}

const UNLIMITED: SegmentLimits = { keptBytes: Number.POSITIVE_INFINITY, ageMs: Number.POSITIVE_INFINITY };

/**
 * The log of a root's changes: segments of lines, each with a checksum. All processes append to the newest segment, by
 * writes of whole lines, so no lock is needed. A killed process may leave an unfinished line, which counts as nothing.
 *
 * Segments are numbered. What a step keeps is in a folder with the number of the step's segment, so that old history is
 * removed a segment at a time.
 */
export class HistoryLog implements Disposable {
  /** The files of the log. @internal */
  readonly folder: SegmentFolder;
  readonly #limits: SegmentLimits;
  #file: OpenFile | undefined;
  #segment = 0;
  #written = 0;
  /** How many bytes this process has kept for steps of the segment. */
  #kept = 0;
  /** When the first step of the segment was logged. */
  #started = 0;
  #checked = 0;
  /** When the folder of the log had last been changed, if it was long enough ago that the next change shows. */
  #folderTime: number | undefined;
  #marks = '';
  #timer: NodeJS.Timeout | undefined;
  #syncing: Promise<void> | undefined;
  /** Whether the name of the segment may not be on disk yet. */
  #isNew = false;
  /** Ends when the names of new segments, and all that was written to former ones, are on disk. */
  #settled: Promise<unknown> = Promise.resolve();

  /** Takes over the folder of the log. */
  constructor(dir: Dir, limits: SegmentLimits = UNLIMITED) {
    this.folder = new SegmentFolder(dir);
    this.#limits = limits;
  }

  /** Returns the number of the segment that the next record goes to, whose step will keep that many bytes. */
  current(toKeep = 0): number {
    const now = Date.now();
    // Records of one path must be in order, so another process's new segment is noticed at once.
    const isStale = this.#file === undefined || now - this.#checked >= TRUST_MS || this.folder.has(this.#segment + 1);
    if (isStale) this.#openNewest(now);
    if (this.#isFull(toKeep, now)) this.#open(this.#segment + 1, now);
    this.#kept += toKeep;
    return this.#segment;
  }

  /** Ends the newest segment, so that the next record begins another. */
  rotate(): void {
    this.#openNewest(Date.now());
    this.#open(this.#segment + 1, Date.now());
  }

  /** Writes a record, and the marks that were waiting. Raises `disk_full` and the like; then nothing counts as written. */
  append(record: LogRecord): void {
    this.#write(this.#marks + encodeLine(record));
  }

  /** Writes a mark with the next record, or soon. If the process is killed before, `settle` finds out what it said. */
  mark(record: LogRecord): void {
    this.#marks += encodeLine(record);
    this.#timer ??= setTimeout(() => this.#tryWriteMarks(), MARK_DELAY_MS).unref();
  }

  /** Writes the marks that are waiting. */
  writeMarks(): void {
    if (this.#marks !== '') this.#write(this.#marks);
  }

  /** Flushes what was written to disk. Calls that come while a flush waits for the disk share the next one. */
  flush(): Promise<void> {
    this.#syncing ??= Promise.resolve().then(async () => {
      this.#syncing = undefined;
      if (this.#isNew) this.#settled = Promise.all([this.#settled, this.folder.sync()]);
      this.#isNew = false;
      try {
        await Promise.all([this.#file?.syncData(), this.#settled]);
      } catch (error) {
        // The next flush tries again.
        this.#settled = Promise.resolve();
        this.#isNew = true;
        throw error;
      }
    });
    return this.#syncing;
  }

  /** Returns the numbers of all segments, oldest first. */
  segments(): number[] {
    return this.folder.list();
  }

  /** Reads the records of a segment, oldest first. None if it has been removed. */
  read(segment: number): LogRecord[] {
    return decodeRecords(this.readBytes(segment));
  }

  /** Reads the bytes of a segment. None if it has been removed. */
  readBytes(segment: number): Buffer {
    return this.folder.read(segment);
  }

  /** Returns the index of a segment that is not the newest. Undefined if it has been removed. */
  indexOf(segment: number): IndexedSegment | undefined {
    return this.folder.indexOf(segment);
  }

  /** Returns a text that changes when something is written to the log, by whichever process. */
  fingerprint(): string {
    const newest = this.segments().at(-1) ?? 0;
    return `${newest} ${this.folder.statusOf(newest)?.size}`;
  }

  [Symbol.dispose](): void {
    this.#tryWriteMarks();
    clearTimeout(this.#timer);
    this.#file?.[Symbol.dispose]();
    this.#file = undefined;
    this.folder[Symbol.dispose]();
  }

  #isFull(toKeep: number, now: number): boolean {
    if (this.#written >= SEGMENT_BYTES) return true;
    const { keptBytes, ageMs } = this.#limits;
    return (this.#kept > 0 && this.#kept + toKeep > keptBytes) || (this.#written > 0 && now - this.#started > ageMs);
  }

  #write(text: string): void {
    if (this.#file === undefined) this.current();
    const bytes = Buffer.from(text);
    (this.#file as OpenFile).writeAll(bytes);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#marks = '';
    this.#written += bytes.length;
  }

  /** Marks that cannot be written now, as on a full disk, wait for the next record. */
  #tryWriteMarks(): void {
    this.#timer = undefined;
    try {
      this.writeMarks();
    } catch (error) {
      if (!(error instanceof FenceError)) throw error;
    }
  }

  /** Makes sure that the newest segment is open: other processes may have begun another. */
  #openNewest(now: number): void {
    const changed = this.folder.status()?.mtimeMs;
    if (this.#file === undefined || changed !== this.#folderTime) {
      const newest = this.segments().at(-1) ?? 1;
      if (this.#file === undefined || newest !== this.#segment) this.#open(newest, now);
    }
    // Two changes within a tick of the system's clock leave the same time.
    this.#folderTime = changed !== undefined && now - changed > TRUST_MS ? changed : undefined;
    this.#written = (this.#file as OpenFile).stat().size;
    this.#checked = now;
  }

  #open(segment: number, now: number): void {
    const former = this.#file;
    const file = this.folder.open(segment);
    this.#file = file;
    this.#segment = segment;
    this.#written = file.size;
    this.#kept = 0;
    this.#started = file.size === 0 ? now : this.#firstTime(segment, now);
    this.#isNew ||= file.size === 0;
    if (former === undefined) return;
    this.#settled = Promise.all([this.#settled, retire(former)]);
    // Whoever waits for the disk hears of a failure; without anybody, nobody relies on it.
    this.#settled.catch(() => {});
  }

  #firstTime(segment: number, now: number): number {
    const first = decodeRecords(this.folder.read(segment, 0, HEAD_BYTES)).find((record) => 'kind' in record);
    return first?.time ?? now;
  }
}

async function retire(file: OpenFile): Promise<void> {
  try {
    await file.syncData();
  } finally {
    await file.closeAsync();
  }
}
