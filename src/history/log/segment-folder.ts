import type { Stats } from 'node:fs';
import { type Dir, isFenceError, isLeftover, type OpenFile, temporaryName } from '../../fence/index.ts';
import { decodeLine } from './log-line.ts';
import { isLogRecord } from './record-check.ts';
import { SegmentIndex, SegmentIndexBuilder } from './segment-index.ts';
import type { LogRecord } from './step.ts';

/** Far more than a segment ever has. What somebody else has put there is not read to its end. */
const MAX_BYTES = 64 * 1024 * 1024;
/** How much may be appended to a segment before its index is made again. */
const MAX_TAIL_BYTES = 64 * 1024;
const BATCH_BYTES = 64 * 1024;
const NUMBER_LENGTH = 8;
/** What the names of segments look like. */
export const SEGMENT_NAME = /^\d{8,12}$/;
const NOTE_NAME = /^(\d{8,12})\.[a-z]+$/;
const INDEX = 'paths';

/** What a segment that is no longer written to has: its index, and the records that came after the index was made. */
export interface IndexedSegment {
  readonly index: SegmentIndex;
  readonly tail: readonly LogRecord[];
}

/** The folder with the segments of a log, and with files about single segments, whose names begin with theirs. */
export class SegmentFolder implements Disposable {
  readonly #dir: Dir;

  /** Takes over the folder. */
  constructor(dir: Dir) {
    this.#dir = dir;
  }

  /** Returns the numbers of all segments, oldest first. */
  list(): number[] {
    const names = this.#dir.list().filter(({ name, type }) => type === 'file' && SEGMENT_NAME.test(name));
    return names.map(({ name }) => Number(name)).sort((a, b) => a - b);
  }

  /** Returns the status of the folder itself, which changes with every new segment. */
  status(): Stats | undefined {
    return this.#dir.lstat('.');
  }

  /** Returns the status of a segment; undefined if it has been removed. */
  statusOf(segment: number): Stats | undefined {
    return this.#dir.lstat(segmentName(segment));
  }

  /** Reports whether there is a segment of that number. */
  has(segment: number): boolean {
    return this.#dir.has(segmentName(segment));
  }

  /** Opens a segment to write at its end, and creates it if it is missing. */
  open(segment: number): OpenFile {
    return openOrCreate(this.#dir, segmentName(segment));
  }

  /** Flushes the names of new segments to disk. */
  sync(): Promise<void> {
    return this.#dir.sync();
  }

  /** Reads the bytes of a segment. None if it has been removed. */
  read(segment: number, from = 0, to = MAX_BYTES): Buffer {
    return this.#read(segmentName(segment), from, to) ?? Buffer.alloc(0);
  }

  /**
   * Returns the index of a segment that is no longer the newest, which is made if it is missing. Undefined if the
   * segment has been removed.
   */
  indexOf(segment: number): IndexedSegment | undefined {
    return this.#readIndex(segment) ?? this.#makeIndex(segment);
  }

  /** Makes the index of a segment if it is missing, and rests between parts of that work. */
  async makeIndex(segment: number, pause: () => Promise<void> | undefined): Promise<void> {
    if (this.#readIndex(segment) !== undefined) return;
    const bytes = this.read(segment);
    const end = endOfRecords(bytes);
    const builder = new SegmentIndexBuilder();
    for (const records of decodeBatches(bytes.subarray(0, end))) {
      for (const record of records) builder.add(record);
      await pause();
    }
    this.writeNote(segment, INDEX, builder.build(end).encode());
  }

  /** Reads the records of a segment, oldest first, and rests between parts of them. */
  async *readInBatches(segment: number, pause: () => Promise<void> | undefined): AsyncGenerator<LogRecord[], void> {
    for (const records of decodeBatches(this.read(segment))) {
      yield records;
      await pause();
    }
  }

  /** Reads a file about a segment. Undefined if there is none. */
  readNote(segment: number, kind: string): Buffer | undefined {
    return this.#read(`${segmentName(segment)}.${kind}`);
  }

  /** Writes a file about a segment, in one step. Does nothing if that fails: such files only save work. */
  writeNote(segment: number, kind: string, bytes: Buffer): void {
    const hidden = temporaryName();
    try {
      using file = this.#dir.createFile(hidden, 0o600);
      file.writeAll(bytes);
      this.#dir.rename(hidden, this.#dir, `${segmentName(segment)}.${kind}`);
    } catch {
      removeFile(this.#dir, hidden);
    }
  }

  /** Removes a segment and all files about it. */
  remove(segment: number): void {
    const name = segmentName(segment);
    removeFile(this.#dir, name);
    for (const entry of this.#dir.list()) if (entry.name.startsWith(`${name}.`)) removeFile(this.#dir, entry.name);
  }

  /** Removes what killed processes left unfinished, and files about segments that are gone. */
  removeLeftovers(): void {
    const segments = new Set(this.list());
    for (const { name } of this.#dir.list(true)) {
      const [, about] = NOTE_NAME.exec(name) ?? [];
      const isStale = about === undefined ? isLeftover(this.#dir, name) : !segments.has(Number(about));
      if (isStale) removeFile(this.#dir, name);
    }
  }

  [Symbol.dispose](): void {
    this.#dir[Symbol.dispose]();
  }

  /** Reads the index of a segment. Undefined if there is none, or one of too little. */
  #readIndex(segment: number): IndexedSegment | undefined {
    const size = this.statusOf(segment)?.size;
    const bytes = size === undefined ? undefined : this.readNote(segment, INDEX);
    const index = bytes && SegmentIndex.decode(bytes);
    if (size === undefined || index === undefined) return undefined;
    const tailBytes = Math.min(size, MAX_BYTES) - index.summary.covers;
    if (tailBytes < 0 || tailBytes > MAX_TAIL_BYTES) return undefined;
    return { index, tail: tailBytes === 0 ? [] : decodeRecords(this.read(segment, index.summary.covers)) };
  }

  #makeIndex(segment: number): IndexedSegment | undefined {
    if (this.statusOf(segment) === undefined) return undefined;
    const bytes = this.read(segment);
    const end = endOfRecords(bytes);
    const index = SegmentIndex.of(decodeRecords(bytes.subarray(0, end)), end);
    this.writeNote(segment, INDEX, index.encode());
    return { index, tail: [] };
  }

  #read(name: string, from = 0, to = MAX_BYTES): Buffer | undefined {
    try {
      using file = this.#dir.openFile(name);
      const bytes = Buffer.allocUnsafe(Math.max(Math.min(file.size, to) - from, 0));
      return bytes.subarray(0, file.read(bytes, from));
    } catch (error) {
      if (isFenceError(error, 'not_found', 'link_loop', 'is_directory', 'special_file')) return undefined;
      throw error;
    }
  }
}

/** Returns the name of a segment, and of the folder with what its steps keep. */
export function segmentName(segment: number): string {
  return String(segment).padStart(NUMBER_LENGTH, '0');
}

/** Reads the records in the bytes of a segment, oldest first. */
export function decodeRecords(bytes: Buffer): LogRecord[] {
  return [...decodeBatches(bytes)].flat();
}

/** Reads the records in the bytes of a segment, oldest first, about a millisecond's work at a time. */
function* decodeBatches(bytes: Buffer): Generator<LogRecord[], void, undefined> {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf('\n', start + BATCH_BYTES);
    const batch = bytes.toString('utf8', start, end < 0 ? bytes.length : end);
    start = end < 0 ? bytes.length : end;
    const records: LogRecord[] = [];
    for (const line of batch.split('\n')) {
      const record = decodeLine(line, isLogRecord);
      if (record !== undefined) records.push(record);
    }
    yield records;
  }
}

/** Returns where the last record ends. After that, another process may be writing one right now. */
function endOfRecords(bytes: Buffer): number {
  const last = Math.max(bytes.lastIndexOf('\n'), 0);
  return decodeLine(bytes.toString('utf8', last + 1), isLogRecord) === undefined ? last : bytes.length;
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

function removeFile(dir: Dir, name: string): void {
  try {
    dir.unlink(name);
  } catch (error) {
    if (!isFenceError(error, 'not_found')) throw error;
  }
}
