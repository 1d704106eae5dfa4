import { escapeJson } from '../../wire/json-escaper.ts';

/** A longer line is cut: it is data, such as minified code, that a model seldom has to read whole. */
export const MAX_LINE_CHARS = 10_000;

interface ReaderOptions {
  /** The number of the first line, negative if it is counted from the end. */
  readonly first: number;
  readonly maxChars: number;
  /** Counts what `maxChars` limits. */
  lengthOf(text: string): number;
  /** The offset of the content in the file, in bytes. */
  readonly start: number;
  /** Whether the content was cut inside its last line. */
  readonly capped: boolean;
  /** Returns how many bytes a text takes in the file. */
  byteLength(text: string): number;
}

/** Lines as a model reads them. */
export interface ReaderLines {
  /** Without a line feed at the end. */
  readonly text: string;
  /** How many lines of the content are in it. */
  readonly lines: number;
  /** Whether the content has more lines. */
  readonly more: boolean;
}

/**
 * Numbers the lines of a content, without padding, since a model pays for each character, up to `maxChars` characters,
 * but at least one line. A very long line is cut, and followed by the byte range that gets the rest of it. A last line
 * that is not all there is left out if there are others.
 */
export function readerLines(content: string, options: ReaderOptions): ReaderLines {
  const { first, maxChars, lengthOf, start, capped, byteLength } = options;
  const shown: string[] = [];
  let chars = 0;
  let from = 0;
  /** The offset in the file up to which bytes have been counted, and where that is in the content. */
  let counted = { bytes: start, chars: 0 };
  const byteOffset = (at: number): number => {
    counted = { bytes: counted.bytes + byteLength(content.slice(counted.chars, at)), chars: at };
    return counted.bytes;
  };
  while (from < content.length) {
    const end = content.indexOf('\n', from);
    const to = end === -1 ? content.length : end;
    const isPart = capped && end === -1;
    const isLong = to - from > MAX_LINE_CHARS;
    const line = isPart || isLong ? cutLine(content, { from, to, isPart, byteOffset }) : content.slice(from, to);
    const numbered = `${first + shown.length}\t${line}`;
    chars += lengthOf(numbered) + 1;
    if (shown.length > 0 && (chars > maxChars || (isPart && !isLong))) {
      return { text: shown.join('\n'), lines: shown.length, more: true };
    }
    shown.push(numbered);
    from = to + 1;
  }
  return { text: shown.join('\n'), lines: shown.length, more: false };
}

interface LongLine {
  readonly from: number;
  readonly to: number;
  /** Whether the line goes on after `to`, no one knows how far. */
  readonly isPart: boolean;
  byteOffset(at: number): number;
}

function cutLine(content: string, { from, to, isPart, byteOffset }: LongLine): string {
  const end = Math.min(from + MAX_LINE_CHARS, to);
  const cut = end < to && isHighSurrogate(content.charCodeAt(end - 1)) ? end - 1 : end;
  const rest = byteOffset(cut);
  const range = { offset_bytes: rest, ...(!isPart && { limit_bytes: byteOffset(to) - rest }) };
  return `${content.slice(from, cut)} [line cut here; its rest: ${JSON.stringify(range)}]`;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/**
 * Returns how many characters from the start of a content take at most `maxChars` as JSON, which escapes some of them.
 */
export function charsAsJson(content: string, maxChars: number): number {
  return charsThatFit(content, maxChars, (text) => escapeJson(text).length);
}

/** Returns how many characters from the start of a content have at most the length `max`, as `lengthOf` counts it. */
export function charsThatFit(content: string, max: number, lengthOf: (text: string) => number): number {
  let fitting = Math.min(content.length, max);
  for (;;) {
    const length = lengthOf(content.slice(0, fitting));
    if (length <= max) return fitting;
    fitting = Math.floor((fitting * max) / length);
  }
}

/**
 * Cuts a content after the last line that fits into `maxChars` characters. A first line that does not fit is kept
 * whole, so that a caller who reads on line by line gets ahead. Returns the content and its number of lines if it was
 * cut, else undefined.
 */
export function cutAtLine(content: string, maxChars: number): { content: string; lines: number } | undefined {
  if (content.length <= maxChars) return undefined;
  const last = content.lastIndexOf('\n', maxChars - 1);
  const end = last === -1 ? content.indexOf('\n') : last;
  if (end === -1 || end === content.length - 1) return undefined;
  const cut = content.slice(0, end + 1);
  return { content: cut, lines: cut.split('\n').length - 1 };
}

/** Cuts a content after the last line that fits into `maxChars` characters, else between two characters. */
export function cutText(content: string, maxChars: number): string {
  if (content.length <= maxChars) return content;
  const line = content.lastIndexOf('\n', maxChars - 1) + 1;
  if (line > 0) return content.slice(0, line);
  return content.slice(0, isHighSurrogate(content.charCodeAt(maxChars - 1)) ? maxChars - 1 : maxChars);
}
