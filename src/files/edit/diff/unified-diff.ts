import { type BinaryString, toBytes } from '../text/binary-string.ts';
import { diffLines, type LineChange } from './diff-lines.ts';

/** Bytes `[oldStart, oldEnd)` of a file that became bytes `[newStart, newEnd)` of its new content. */
export interface ChangedRange {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** The most lines of a diff, its last line that says that it was cut included. Two more are left for the file names. */
const MAX_LINES = 198;
/** The most characters of one line. */
const MAX_LINE_CHARS = 500;
const CONTEXT = 3;

/**
 * Returns the hunks of the unified diff between two versions of a file, at most 198 lines, without the file names above
 * them; empty if nothing differs. `ranges` are the parts that may differ, in order; everything outside them must be
 * equal. Takes time linear in the sizes of both versions. Bytes that are not UTF-8 are shown as U+FFFD.
 */
export function unifiedDiff(before: BinaryString, after: BinaryString, ranges: readonly ChangedRange[]): string {
  const writer = new HunkWriter(before, after);
  for (const range of wholeLines(before, after, ranges)) {
    if (!writer.add(range)) break;
  }
  return writer.finish();
}

/** Extends ranges to whole lines, and joins those that share a line. */
function wholeLines(before: BinaryString, after: BinaryString, ranges: readonly ChangedRange[]): ChangedRange[] {
  const joined: { -readonly [K in keyof ChangedRange]: number }[] = [];
  for (const range of ranges) {
    const last = joined.at(-1);
    if (last !== undefined && range.oldEnd < last.oldEnd) {
      last.newEnd = range.newEnd + last.oldEnd - range.oldEnd;
      continue;
    }
    const end = endOfLines(before, after, range);
    const sharesLine = last !== undefined && range.oldStart < last.oldEnd;
    const oldStart = sharesLine ? range.oldStart : startOfLine(before, range.oldStart);
    const newStart = sharesLine ? range.newStart : startOfLine(after, range.newStart);
    if (last !== undefined && (oldStart < last.oldEnd || newStart < last.newEnd)) {
      last.oldEnd = end.oldEnd;
      last.newEnd = end.newEnd;
    } else joined.push({ oldStart, oldEnd: end.oldEnd, newStart, newEnd: end.newEnd });
  }
  return joined;
}

function startOfLine(text: BinaryString, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

function endOfLines(before: BinaryString, after: BinaryString, { oldEnd, newEnd }: ChangedRange) {
  const startsLine = (text: BinaryString, at: number): boolean => at === 0 || text[at - 1] === '\n';
  if (startsLine(before, oldEnd) && startsLine(after, newEnd)) return { oldEnd, newEnd };
  const newline = before.indexOf('\n', oldEnd);
  const rest = (newline === -1 ? before.length : newline + 1) - oldEnd;
  return { oldEnd: oldEnd + rest, newEnd: newEnd + rest };
}

/** A hunk to which lines are still added. */
interface OpenHunk {
  /** The lines as far as they fit into the diff. */
  readonly lines: string[];
  /** The numbers of its first lines, from 0, and how many lines it has in both versions. */
  readonly oldLine: number;
  readonly newLine: number;
  oldCount: number;
  newCount: number;
  /** Where it ends in the old version. */
  end: number;
}

/** Collects changes that are near each other into hunks, and writes those until the diff is full. */
class HunkWriter {
  readonly #before: BinaryString;
  readonly #after: BinaryString;
  readonly #written: string[] = [];
  #full = false;
  #hunk: OpenHunk | undefined;
  /** The place in the old version up to which lines are counted, and the lines before it in both versions. */
  #counted = 0;
  #oldLine = 0;
  #newLine = 0;

  constructor(before: BinaryString, after: BinaryString) {
    this.#before = before;
    this.#after = after;
  }

  /** Adds the differences of a range of whole lines. Returns false if the diff is full. */
  add({ oldStart, oldEnd, newStart, newEnd }: ChangedRange): boolean {
    const lines = countLines(this.#before, this.#counted, oldStart);
    this.#oldLine += lines;
    this.#newLine += lines;
    const old = splitLines(this.#before.slice(oldStart, oldEnd));
    const now = splitLines(this.#after.slice(newStart, newEnd));
    const offsets = offsetsOf(old, oldStart);
    for (const change of diffLines(old, now)) {
      if (this.#full) break;
      this.#change(change, old, now, offsets);
    }
    this.#counted = oldEnd;
    this.#oldLine += old.length;
    this.#newLine += now.length;
    return !this.#full;
  }

  /** Ends the last hunk and returns the diff. */
  finish(): string {
    this.#close();
    if (this.#full) this.#written.splice(MAX_LINES - 1, Number.POSITIVE_INFINITY, `... cut: the diff is longer`);
    return this.#written.map((line) => `${line}\n`).join('');
  }

  #change(change: LineChange, old: readonly string[], now: readonly string[], offsets: readonly number[]): void {
    const from = offsets[change.oldStart] ?? 0;
    const gap = this.#hunk && linesBetween(this.#before, this.#hunk.end, from, 2 * CONTEXT);
    if (this.#hunk !== undefined && gap !== undefined) this.#push(' ', gap);
    else {
      this.#close();
      if (this.#full) return;
      const above = linesAbove(this.#before, from, CONTEXT);
      this.#hunk = {
        lines: [],
        oldLine: this.#oldLine + change.oldStart - above.length,
        newLine: this.#newLine + change.newStart - above.length,
        oldCount: 0,
        newCount: 0,
        end: from,
      };
      this.#push(' ', above);
    }
    this.#push('-', old.slice(change.oldStart, change.oldEnd));
    this.#push('+', now.slice(change.newStart, change.newEnd));
    if (this.#hunk !== undefined) this.#hunk.end = offsets[change.oldEnd] ?? 0;
    this.#full ||= this.#written.length + (this.#hunk?.lines.length ?? 0) > MAX_LINES;
  }

  #close(): void {
    const hunk = this.#hunk;
    if (hunk === undefined) return;
    this.#push(' ', linesBelow(this.#before, hunk.end, CONTEXT));
    const side = (start: number, lines: number): string =>
      `${lines === 0 ? start : start + 1}${lines === 1 ? '' : `,${lines}`}`;
    this.#written.push(
      `@@ -${side(hunk.oldLine, hunk.oldCount)} +${side(hunk.newLine, hunk.newCount)} @@`,
      ...hunk.lines,
    );
    this.#hunk = undefined;
    this.#full ||= this.#written.length > MAX_LINES;
  }

  #push(kind: ' ' | '-' | '+', lines: readonly string[]): void {
    const hunk = this.#hunk;
    if (hunk === undefined) return;
    if (kind !== '+') hunk.oldCount += lines.length;
    if (kind !== '-') hunk.newCount += lines.length;
    for (const line of lines) {
      if (this.#written.length + hunk.lines.length > MAX_LINES) break;
      hunk.lines.push(kind + shown(line));
      if (!line.endsWith('\n')) hunk.lines.push('\\ No newline at end of file');
    }
  }
}

/** Decodes a line without its newline, cut if it is very long. */
function shown(line: BinaryString): string {
  const bare = line.endsWith('\n') ? line.slice(0, -1) : line;
  // A character takes at most four bytes, so no more are decoded than may be shown.
  const text = toBytes(bare.slice(0, 4 * MAX_LINE_CHARS)).toString('utf8');
  return text.length <= MAX_LINE_CHARS && bare.length <= 4 * MAX_LINE_CHARS
    ? text
    : `${text.slice(0, MAX_LINE_CHARS).toWellFormed()}... (line cut)`;
}

function splitLines(text: BinaryString): string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline + 1;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}

/** Returns where each line begins, and where the last one ends. */
function offsetsOf(lines: readonly string[], start: number): number[] {
  const offsets = [start];
  for (const line of lines) offsets.push((offsets.at(-1) ?? 0) + line.length);
  return offsets;
}

function countLines(text: BinaryString, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

/** Returns the lines between two offsets, or undefined if there are more than `most`. */
function linesBetween(text: BinaryString, from: number, to: number, most: number): string[] | undefined {
  const lines: string[] = [];
  while (from < to) {
    if (lines.length === most) return undefined;
    const end = text.indexOf('\n', from) + 1 || text.length;
    lines.push(text.slice(from, end));
    from = end;
  }
  return lines;
}

function linesAbove(text: BinaryString, end: number, most: number): string[] {
  const lines: string[] = [];
  while (end > 0 && lines.length < most) {
    const start = end === 1 ? 0 : text.lastIndexOf('\n', end - 2) + 1;
    lines.unshift(text.slice(start, end));
    end = start;
  }
  return lines;
}

function linesBelow(text: BinaryString, start: number, most: number): string[] {
  const lines: string[] = [];
  while (start < text.length && lines.length < most) {
    const end = text.indexOf('\n', start) + 1 || text.length;
    lines.push(text.slice(start, end));
    start = end;
  }
  return lines;
}
