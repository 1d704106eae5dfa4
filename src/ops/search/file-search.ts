import type { ReadableFile } from '../../fence/index.ts';
import { excerpt, MAX_SHOWN } from './excerpt.ts';
import type { LinePattern } from './line-pattern.ts';
import type { MatchList } from './match-list.ts';
import type { StopFlag } from './stop-flag.ts';

/** Read at once. Small enough to stay in the processor's cache and to stop soon. */
export const CHUNK = 256 * 1024;

/** A longer line is searched in pieces of this size, so that memory does not grow with it. */
export const MAX_LINE = 4 * 1024 * 1024;

/** What two pieces of such a line have in common: a match that is not longer is found wherever it lies. */
const OVERLAP = 64 * 1024;

/** A NUL in as many bytes at the beginning makes a file binary. */
const SNIFFED = 8 * 1024;

const LF = 0x0a;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

export interface FileSearchOptions {
  readonly pattern: LinePattern;
  readonly contextLines: number;
  readonly stop: StopFlag;
  readonly found: MatchList;
  /** At least `CHUNK` bytes to read into. */
  readonly buffer: Buffer;
}

/** A match whose lines after it are not all read yet. */
interface OpenMatch {
  readonly contextAfter: string[];
  missing: number;
}

/**
 * Searches one file line by line, in memory that depends neither on the file's size nor on the length of its lines.
 * A line ends at LF; a CR before it belongs to the line. In lines over `MAX_LINE` bytes, anchors and word boundaries
 * may also hold where a piece begins or ends.
 */
export class FileSearch {
  readonly #file: ReadableFile;
  readonly #path: string;
  readonly #options: FileSearchOptions;
  #buffer: Buffer;

  /** The number of the line at offset `#counted` of the current region. */
  #line = 1;
  #counted = 0;

  /** Lines just before the current region, as far as they may be needed for context. */
  #tail: string[] = [];
  #open: OpenMatch[] = [];

  /** The region begins inside a line of which pieces were searched before; how that line begins, and if it matched. */
  #inLine = false;
  #inLineHead = '';
  #inLineMatched = false;

  constructor(file: ReadableFile, path: string, options: FileSearchOptions) {
    this.#file = file;
    this.#path = path;
    this.#options = options;
    this.#buffer = options.buffer;
  }

  /** Yields between chunks. Returns false if the file is binary, in which case nothing was found in it. */
  *run(): Generator<undefined, boolean> {
    const { stop } = this.#options;
    const { size } = this.#file;
    let filled = 0;
    let searchedForLf = 0;
    let read = 0;
    let sniffed = false;
    for (;;) {
      const space = this.#buffer.subarray(filled, filled + CHUNK);
      const got = this.#file.read(space);
      read += got;
      filled += got;
      const atEnd = got === 0 || (size > 0 && read >= size);
      if (!sniffed) {
        if (!atEnd && filled < SNIFFED) continue;
        if (this.#buffer.subarray(0, Math.min(filled, SNIFFED)).includes(0)) return false;
        sniffed = true;
      }
      const end = atEnd ? filled : searchedForLf + lastLineEnd(this.#buffer.subarray(searchedForLf, filled));
      if (end > searchedForLf || atEnd) {
        this.#searchLines(this.#buffer.subarray(0, end), atEnd);
        if (atEnd) return true;
        this.#buffer.copyWithin(0, end, filled);
        filled -= end;
      } else if (filled === this.#buffer.length) {
        filled = this.#makeRoom();
      }
      searchedForLf = filled;
      if (stop.raised || this.#finished()) return true;
      yield undefined;
    }
  }

  /** All that can be part of the result is there, also the context of the last match that will be shown. */
  #finished(): boolean {
    if (!this.#options.found.full) return false;
    const surplus = this.#options.found.matches.at(-1)?.contextAfter;
    return this.#open.every((match) => match.contextAfter === surplus);
  }

  /** The buffer is full of one line: takes a larger one, or searches what is there and keeps the overlap. */
  #makeRoom(): number {
    const { length } = this.#buffer;
    if (length < MAX_LINE) {
      this.#buffer = Buffer.concat([this.#buffer], Math.min(MAX_LINE, length * 4));
      return length;
    }
    this.#searchPiece(this.#buffer);
    this.#buffer.copyWithin(0, length - OVERLAP);
    return OVERLAP;
  }

  #searchPiece(piece: Buffer): void {
    if (!this.#inLine) this.#inLineHead = shown(piece, 0, piece.length);
    const before = this.#options.found.matches.length;
    this.#search(piece);
    if (this.#options.found.matches.length > before) this.#inLineMatched = true;
    this.#inLine = true;
  }

  /** Searches a region of whole lines. */
  #searchLines(region: Buffer, last: boolean): void {
    this.#search(region);
    if (last) return;
    if (this.#options.contextLines > 0) this.#tail = this.#before(region, region.length);
    this.#line += countLines(region, this.#counted, region.length);
    this.#counted = 0;
    this.#inLine = false;
    this.#inLineMatched = false;
  }

  #search(region: Buffer): void {
    const { pattern, found } = this.#options;
    const afterInLine = this.#inLine ? lineEnd(region, 0) + 1 : 0;
    const open = this.#open;
    this.#open = [];
    for (const match of open) this.#extend(match, region, afterInLine);

    const scan = pattern.scan(region);
    let from = this.#inLineMatched ? afterInLine : this.#afterMark(region);
    while (from < region.length && !found.full) {
      const at = scan.next(from);
      if (at === -1) return;
      const end = lineEnd(region, at);
      this.#record(region, lineStart(region, at), end);
      from = end + 1;
    }
  }

  /** A byte order mark does not keep `^` from matching what follows it. */
  #afterMark(region: Buffer): number {
    const atStart = this.#line === 1 && !this.#inLine;
    return atStart && region.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
  }

  #record(region: Buffer, start: number, end: number): void {
    const { pattern, contextLines, found } = this.#options;
    this.#line += countLines(region, this.#counted, start);
    this.#counted = start;
    const text = region.toString('utf8', start, end);
    const { text: lineContent, cut } = excerpt(text, text.length > MAX_SHOWN ? pattern.positionIn(text) : 0);
    const contextAfter: string[] = [];
    const partOfLine = this.#inLine && start === 0;
    found.add({
      file: this.#path,
      lineNumber: this.#line,
      lineContent,
      ...(cut || partOfLine ? { lineTruncated: true } : {}),
      contextBefore: contextLines === 0 ? [] : this.#before(region, start),
      contextAfter,
    });
    if (contextLines > 0) this.#extend({ contextAfter, missing: contextLines }, region, end + 1);
  }

  /** The lines before offset `start`, as many as the context needs. */
  #before(region: Buffer, start: number): string[] {
    const { contextLines } = this.#options;
    const lines: string[] = [];
    for (let end = start - 1; end >= 0 && lines.length < contextLines; ) {
      const begin = end === 0 ? 0 : region.lastIndexOf(LF, end - 1) + 1;
      lines.push(begin === 0 && this.#inLine ? this.#inLineHead : shown(region, begin, end));
      end = begin - 1;
    }
    lines.reverse();
    const more = contextLines - lines.length;
    return more === 0 ? lines : [...this.#tail.slice(-more), ...lines];
  }

  /** Adds the lines from offset `from` to the context after a match; what is missing comes with the next region. */
  #extend(match: OpenMatch, region: Buffer, from: number): void {
    for (let start = from; start < region.length && match.missing > 0; match.missing -= 1) {
      const end = lineEnd(region, start);
      const line = shown(region, start, end);
      match.contextAfter.push(line);
      this.#options.found.grow(line);
      start = end + 1;
    }
    if (match.missing > 0) this.#open.push(match);
  }
}

/** Where the line around `at` begins. */
function lineStart(region: Buffer, at: number): number {
  return at === 0 ? 0 : region.lastIndexOf(LF, at - 1) + 1;
}

/** Where the line around `at` ends: at its LF, or with the region. */
function lineEnd(region: Buffer, at: number): number {
  const lf = region.indexOf(LF, at);
  return lf === -1 ? region.length : lf;
}

/** How many bytes of this are whole lines. */
function lastLineEnd(bytes: Buffer): number {
  return bytes.lastIndexOf(LF) + 1;
}

function countLines(bytes: Buffer, from: number, to: number): number {
  let count = 0;
  for (let i = from; i < to; i += 1) if (bytes[i] === LF) count += 1;
  return count;
}

/** A line of context, cut to what is shown. A character has at most four bytes. */
function shown(region: Buffer, start: number, end: number): string {
  return excerpt(region.toString('utf8', start, Math.min(end, start + 4 * (MAX_SHOWN + 1)))).text;
}
