import type { ReadableFile } from '../../fence/index.ts';
import type { SearchMemory } from '../kernels/search-memory.ts';
import { lineStart, PAUSED, type StopSignal } from '../pattern/line-matcher.ts';
import { readContextBefore } from './context-before.ts';
import { excerptAround, type MatchedLine, shownLine } from './excerpt.ts';
import { type BlockRange, type LineBlock, LineBlockReader } from './line-block-reader.ts';
import type { LinePattern } from './line-pattern.ts';
import type { GrepOutput, MatchList } from './match-list.ts';

const LF = 0x0a;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** Options of a `FileSearch`. */
export interface FileSearchOptions {
  readonly pattern: LinePattern;
  /** 0 unless `output` is lines. */
  readonly contextLines: number;
  /** By default lines. */
  readonly output?: GrepOutput;
  readonly stop: StopSignal;
  readonly found: MatchList;
  readonly memory: SearchMemory;
  /** A read buffer from `SearchMemory.take`. */
  readonly buffer: Buffer;
  /**
   * Searches only the lines that start in this range and numbers them from 1. The caller has checked that the file is
   * not binary.
   */
  readonly range?: BlockRange | undefined;
}

/** A match whose context after it is not complete yet. */
interface OpenMatch {
  readonly contextAfter: string[];
  missing: number;
}

/**
 * Searches one file, or a range of it, line by line. A line ends at LF; a CR before the LF belongs to the line. A line
 * longer than `MAX_LINE_BYTES` is searched in overlapping pieces: anchors and word boundaries may also hold at the ends
 * of a piece, and a match longer than the overlap may be missed.
 */
export class FileSearch {
  readonly #path: string;
  readonly #options: FileSearchOptions;
  #file: ReadableFile | undefined;

  /** File offsets of the first block and of the current block. */
  #first = 0;
  #offset = 0;
  /** Line number at offset `#counted` of the current block. */
  #line = 1;
  #counted = 0;
  /** The whole range was searched; the rest is read for context only. */
  #past = false;
  /** Number of lines that matched. */
  #matched = 0;

  /** Lines just before the current block, as many as context may need; undefined until they are needed. */
  #tail: string[] | undefined;
  #open: OpenMatch[] = [];

  /**
   * The block starts inside a line whose earlier pieces were searched: whether that is so, how the line begins, and
   * whether it matched.
   */
  #inLine = false;
  #inLineHead = '';
  #inLineMatched = false;

  constructor(path: string, options: FileSearchOptions) {
    this.#path = path;
    this.#options = options;
  }

  /** The number of lines in the range, known once it was searched to its end. */
  get lines(): number {
    return this.#line - 1;
  }

  /** Searches a whole file that is already in memory, and yields while its pattern pauses. */
  runOn(bytes: Buffer): Generator<undefined, void> {
    return this.#searchLines({ bytes, offset: 0, isPiece: false, isLast: true });
  }

  /**
   * Searches an open file, and yields between blocks and while its pattern pauses. Returns false if the file is binary,
   * in which case it has no matches.
   */
  *run(file: ReadableFile): Generator<undefined, boolean> {
    this.#file = file;
    const { stop, range, buffer } = this.#options;
    const { from, to, end } = range ?? { from: 0, to: Number.POSITIVE_INFINITY, end: file.size };
    // The byte before the range shows whether a line starts at its first byte.
    const reader = new LineBlockReader(file, buffer, { from: Math.max(0, from - 1), to, end });
    if (range === undefined && reader.startsBinary()) return false;
    if (range !== undefined && range.from > 0 && !reader.skipLine(range.to)) return true;
    this.#first = reader.offset;
    for (;;) {
      const block = reader.next();
      this.#offset = block.offset;
      yield* block.isPiece ? this.#searchPiece(block) : this.#searchLines(block);
      if (block.isLast || stop.raised || this.#finished()) return true;
      yield undefined;
    }
  }

  /** Whether the result is complete, including the context of the last match that will be returned. */
  #finished(): boolean {
    if (this.#hasEnough()) return true;
    if (this.#past && this.#open.length === 0) return true;
    if (!this.#options.found.full) return false;
    const surplus = this.#options.found.matches.at(-1)?.contextAfter;
    return this.#open.every((match) => match.contextAfter === surplus);
  }

  /** Whether no further match can change the result of this file. */
  #hasEnough(): boolean {
    return this.#options.output === 'files' && this.#matched > 0;
  }

  *#searchPiece({ bytes }: LineBlock): Generator<undefined, void> {
    if (!this.#inLine) this.#inLineHead = shownLine(bytes, 0, bytes.length);
    const before = this.#matched;
    yield* this.#search(bytes, this.#past ? 0 : bytes.length);
    if (this.#matched > before) this.#inLineMatched = true;
    this.#inLine = true;
  }

  /** Searches the lines of a block that start in the range. */
  *#searchLines({ bytes, isLast }: LineBlock): Generator<undefined, void> {
    const until = this.#searchedPart(bytes);
    yield* this.#search(bytes, until);
    if (isLast && this.#options.range === undefined) return;
    this.#past ||= this.#offset + bytes.length >= this.#rangeEnd();
    if (this.#options.contextLines > 0 && !this.#past) this.#tail = this.#before(bytes, bytes.length);
    this.#line += this.#options.memory.countLines(bytes, this.#counted, until);
    this.#counted = 0;
    this.#inLine = false;
    this.#inLineMatched = false;
  }

  /** Returns the offset after the last line of the block that starts in the range, or that started before the block. */
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

  /** Searches the lines before offset `until` of a block. */
  *#search(block: Buffer, until: number): Generator<undefined, void> {
    const { pattern, found, output = 'lines' } = this.#options;
    const isCounting = output !== 'lines';
    const afterInLine = this.#inLine ? lineEnd(block, 0) + 1 : 0;
    const open = this.#open;
    this.#open = [];
    for (const match of open) this.#extend(match, block, afterInLine);

    const scan = pattern.scan(until === block.length ? block : block.subarray(0, until));
    let from = this.#inLineMatched ? afterInLine : this.#offset === 0 ? afterByteOrderMark(block) : 0;
    while (from < until && !found.full && !this.#hasEnough()) {
      let at = scan.next(from);
      while (at === PAUSED) {
        yield undefined;
        at = scan.resume?.() ?? -1;
      }
      if (at === -1) return;
      const end = lineEnd(block, at);
      this.#matched += 1;
      if (isCounting) found.count(this.#path);
      else if (!found.pass()) this.#record(block, { start: lineStart(block, 0, at), at, end });
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

  /** Returns the context lines before offset `start` of a block. */
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
    this.#tail ??= file === undefined ? [] : readContextBefore(file, this.#first, contextLines);
    return [...this.#tail.slice(-more), ...lines];
  }

  /**
   * Adds the lines from offset `from` on to the context after a match. If the block ends first, the next block
   * continues.
   */
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

/**
 * Returns the offset at which a file's first line starts for matching: after a UTF-8 byte order mark, so that `^`
 * matches there.
 */
export function afterByteOrderMark(bytes: Buffer): number {
  return BYTE_ORDER_MARK.every((byte, i) => bytes[i] === byte) ? BYTE_ORDER_MARK.length : 0;
}

/** Returns the end of the line around `at`: the offset of its LF, or the end of the block. */
function lineEnd(block: Buffer, at: number): number {
  const lf = block.indexOf(LF, at);
  return lf === -1 ? block.length : lf;
}
