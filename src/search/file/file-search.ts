import type { ReadableFile } from '../../fence/index.ts';
import type { SearchMemory } from '../kernels/search-memory.ts';
import type { StopSignal } from '../pattern/line-matcher.ts';
import { linesBefore } from './context-before.ts';
import { excerptAround, type MatchedLine, shownLine } from './excerpt.ts';
import { type BlockRange, type LineBlock, LineBlockReader } from './line-block-reader.ts';
import type { LinePattern } from './line-pattern.ts';
import type { MatchList } from './match-list.ts';

const LF = 0x0a;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

export interface FileSearchOptions {
  readonly pattern: LinePattern;
  readonly contextLines: number;
  readonly stop: StopSignal;
  readonly found: MatchList;
  readonly memory: SearchMemory;
  /** At least `READ_BYTES` to read into, best of this memory. */
  readonly buffer: Buffer;
  /** Search only lines that begin in this range, and number them from 1 on. The file is known not to be binary. */
  readonly range?: BlockRange | undefined;
}

/** A match whose lines after it are not all read yet. */
interface OpenMatch {
  readonly contextAfter: string[];
  missing: number;
}

/**
 * Searches one file, or part of it, line by line. A line ends at LF; a CR before it belongs to the line. In lines over
 * `MAX_LINE` bytes, anchors and word boundaries may also hold where a piece begins or ends.
 */
export class FileSearch {
  readonly #path: string;
  readonly #options: FileSearchOptions;
  #file: ReadableFile | undefined;

  /** Where the first region and the current one begin in the file. */
  #first = 0;
  #offset = 0;
  /** The number of the line at offset `#counted` of the current region. */
  #line = 1;
  #counted = 0;
  /** The range is through; what is read now is context. */
  #past = false;

  /** Lines just before the current region, as far as they may be needed for context; undefined if nobody looked yet. */
  #tail: string[] | undefined;
  #open: OpenMatch[] = [];

  /** The region begins inside a line of which pieces were searched before; how that line begins, and if it matched. */
  #inLine = false;
  #inLineHead = '';
  #inLineMatched = false;

  constructor(path: string, options: FileSearchOptions) {
    this.#path = path;
    this.#options = options;
  }

  /** How many lines the range has, once it was searched to its end. */
  get lines(): number {
    return this.#line - 1;
  }

  /** Searches the bytes of a whole file. */
  runOn(bytes: Buffer): void {
    this.#searchLines({ bytes, offset: 0, isPiece: false, isLast: true });
  }

  /** Yields between regions. Returns false if the file is binary, in which case nothing was found in it. */
  *run(file: ReadableFile): Generator<undefined, boolean> {
    this.#file = file;
    const { stop, range, buffer } = this.#options;
    const { from, to, end } = range ?? { from: 0, to: Number.POSITIVE_INFINITY, end: file.size };
    // From the byte before it, one can tell whether a line begins there.
    const reader = new LineBlockReader(file, buffer, { from: Math.max(0, from - 1), to, end });
    if (range === undefined && reader.startsBinary()) return false;
    if (range !== undefined && range.from > 0 && !reader.skipLine(range.to)) return true;
    this.#first = reader.offset;
    for (;;) {
      const block = reader.next();
      this.#offset = block.offset;
      if (block.isPiece) this.#searchPiece(block);
      else this.#searchLines(block);
      if (block.isLast || stop.raised || this.#finished()) return true;
      yield undefined;
    }
  }

  /** All that can be part of the result is there, also the context of the last match that will be shown. */
  #finished(): boolean {
    if (this.#past && this.#open.length === 0) return true;
    if (!this.#options.found.full) return false;
    const surplus = this.#options.found.matches.at(-1)?.contextAfter;
    return this.#open.every((match) => match.contextAfter === surplus);
  }

  #searchPiece({ bytes }: LineBlock): void {
    if (!this.#inLine) this.#inLineHead = shownLine(bytes, 0, bytes.length);
    const before = this.#options.found.matches.length;
    this.#search(bytes, this.#past ? 0 : bytes.length);
    if (this.#options.found.matches.length > before) this.#inLineMatched = true;
    this.#inLine = true;
  }

  /** Searches a region of whole lines, as far as they begin in the range. */
  #searchLines({ bytes, isLast }: LineBlock): void {
    const until = this.#searchedPart(bytes);
    this.#search(bytes, until);
    if (isLast && this.#options.range === undefined) return;
    this.#past ||= this.#offset + bytes.length >= this.#rangeEnd();
    if (this.#options.contextLines > 0 && !this.#past) this.#tail = this.#before(bytes, bytes.length);
    this.#line += this.#options.memory.countLines(bytes, this.#counted, until);
    this.#counted = 0;
    this.#inLine = false;
    this.#inLineMatched = false;
  }

  /** Up to where a region's lines begin in the range, or began before the region. */
  #searchedPart(bytes: Buffer): number {
    if (this.#past) return 0;
    const last = this.#rangeEnd() - 1 - this.#offset;
    if (last >= bytes.length) return bytes.length;
    if (last < 0 && !this.#inLine) return 0;
    return Math.min(bytes.length, lineEnd(bytes, Math.max(0, last)) + 1);
  }

  #rangeEnd(): number {
    return this.#options.range?.to ?? Number.POSITIVE_INFINITY;
  }

  /** Searches the lines before offset `until`. */
  #search(block: Buffer, until: number): void {
    const { pattern, found } = this.#options;
    const afterInLine = this.#inLine ? lineEnd(block, 0) + 1 : 0;
    const open = this.#open;
    this.#open = [];
    for (const match of open) this.#extend(match, block, afterInLine);

    const scan = pattern.scan(until === block.length ? block : block.subarray(0, until));
    let from = this.#inLineMatched ? afterInLine : this.#offset === 0 ? afterMark(block) : 0;
    while (from < until && !found.full) {
      const at = scan.next(from);
      if (at === -1) return;
      const end = lineEnd(block, at);
      this.#record(block, { start: lineStart(block, at), at, end });
      from = end + 1;
    }
  }

  #record(block: Buffer, line: MatchedLine): void {
    const { start, end } = line;
    const { pattern, contextLines, found } = this.#options;
    this.#line += this.#options.memory.countLines(block, this.#counted, start);
    this.#counted = start;
    const { text: lineContent, cut } = excerptAround(block, line, pattern);
    const contextAfter: string[] = [];
    const partOfLine = this.#inLine && start === 0;
    found.add({
      file: this.#path,
      lineNumber: this.#line,
      lineContent,
      ...(cut || partOfLine ? { lineTruncated: true } : {}),
      contextBefore: contextLines === 0 ? [] : this.#before(block, start),
      contextAfter,
    });
    if (contextLines > 0) this.#extend({ contextAfter, missing: contextLines }, block, end + 1);
  }

  /** The lines before offset `start`, as many as the context needs. */
  #before(block: Buffer, start: number): string[] {
    const { contextLines } = this.#options;
    const lines: string[] = [];
    for (let end = start - 1; end >= 0 && lines.length < contextLines; ) {
      const begin = end === 0 ? 0 : block.lastIndexOf(LF, end - 1) + 1;
      lines.push(begin === 0 && this.#inLine ? this.#inLineHead : shownLine(block, begin, end));
      end = begin - 1;
    }
    lines.reverse();
    const more = contextLines - lines.length;
    if (more === 0) return lines;
    const file = this.#first === 0 ? undefined : this.#file;
    this.#tail ??= file === undefined ? [] : linesBefore(file, this.#first, contextLines);
    return [...this.#tail.slice(-more), ...lines];
  }

  /** Adds the lines from offset `from` to the context after a match; what is missing comes with the next region. */
  #extend(match: OpenMatch, block: Buffer, from: number): void {
    for (let start = from; start < block.length && match.missing > 0; match.missing -= 1) {
      const end = lineEnd(block, start);
      const line = shownLine(block, start, end);
      match.contextAfter.push(line);
      this.#options.found.grow(line);
      start = end + 1;
    }
    if (match.missing > 0) this.#open.push(match);
  }
}

/** Where a file's first line is searched from: a byte order mark does not keep `^` from matching what follows it. */
export function afterMark(bytes: Buffer): number {
  return BYTE_ORDER_MARK.every((byte, i) => bytes[i] === byte) ? BYTE_ORDER_MARK.length : 0;
}

/** Where the line around `at` begins. */
function lineStart(block: Buffer, at: number): number {
  return at === 0 ? 0 : block.lastIndexOf(LF, at - 1) + 1;
}

/** Where the line around `at` ends: at its LF, or with the region. */
function lineEnd(block: Buffer, at: number): number {
  const lf = block.indexOf(LF, at);
  return lf === -1 ? block.length : lf;
}
