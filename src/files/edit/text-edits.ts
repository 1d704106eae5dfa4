import { isUtf8 } from 'node:buffer';
import { FenceError } from '../../fence/index.ts';
import { textToBytes } from '../encoding.ts';
import { FileError } from '../errors.ts';
import type { EditOutcome } from './text/edit-outcome.ts';
import { findOccurrences, lineAt } from './text/find-occurrences.ts';

const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Where an edit put its new text. */
export interface EditPosition {
  /** The line, from 1, on which the new text starts. */
  readonly line: number;
}

/** The replacement of one piece of text. */
export interface Replacement {
  /** The text to replace. The file must contain it exactly once. */
  readonly oldText: string;
  /** The new text, inserted literally: `$&` and the like have no special meaning. */
  readonly newText: string;
}

/** The insertion of text between two lines. */
export interface Insertion {
  /** The number of lines above the insertion: 0 is the top of the file. Lines end at LF. */
  readonly after: number;
  readonly text: string;
  /**
   * How line breaks are added. `text` inserts the text literally, preceded by a line break only below a last line that
   * has none. `lines` also ends the text with a line break, unless it became the unterminated last line, and counts the
   * empty line after a final line break, as editors do.
   */
  readonly as: 'text' | 'lines';
}

/**
 * Replaces a text that occurs exactly once; every other byte stays. Raises `not_found` if there is no file, `not_text`
 * if it is not UTF-8, `text_not_found`, `text_not_unique`, and `invalid_encoding` for a new text with a lone surrogate.
 */
export function replaceOnce(
  original: Buffer | undefined,
  { oldText, newText }: Replacement,
): EditOutcome<EditPosition> {
  const added = textToBytes(newText, 'newText');
  assertText(original);
  // A lone surrogate would be encoded as U+FFFD, which the file may contain.
  if (!oldText.isWellFormed()) throw new FileError('text_not_found', {});
  const old = Buffer.from(oldText, 'utf8');
  const { count, first, lines } = findOccurrences(original, old);
  if (count === 0) throw new FileError('text_not_found', {});
  if (count > 1) throw new FileError('text_not_unique', { count, lines });
  const content = Buffer.concat([original.subarray(0, first), added, original.subarray(first + old.length)]);
  return { content, result: { line: lines[0] ?? 1 } };
}

/**
 * Inserts text between two lines; every other byte stays, and a byte order mark stays first. Added line breaks are CRLF
 * if the last one in the file is. Raises `not_found` if there is no file, `not_text` if it is not UTF-8,
 * `line_out_of_range`, and `invalid_encoding` for a text with a lone surrogate.
 */
export function insertLines(original: Buffer | undefined, { after, text, as }: Insertion): EditOutcome<EditPosition> {
  const added = textToBytes(text, 'text');
  assertText(original);
  const position = endOfLine(original, after, as);
  const before = original.subarray(0, position);
  const rest = original.subarray(position);
  const lineBreak = lineBreakOf(original);
  const opensLine = added.length > 0 && rest.length === 0 && position > markLength(original) && original.at(-1) !== LF;
  const closesLine = as === 'lines' && !opensLine && added.at(-1) !== LF;
  const content = Buffer.concat([
    before,
    opensLine ? lineBreak : Buffer.alloc(0),
    added,
    closesLine ? lineBreak : Buffer.alloc(0),
    rest,
  ]);
  return { content, result: { line: lineAt(original, position) + (opensLine ? 1 : 0) } };
}

/** Raises `not_found` if there is no file, and `not_text` if its content is not UTF-8. */
function assertText(original: Buffer | undefined): asserts original is Buffer {
  if (original === undefined) throw new FenceError('not_found', {});
  if (!isUtf8(original)) throw new FileError('not_text', {});
}

/** Returns the offset just past the given line, its line break included. Raises `line_out_of_range`. */
function endOfLine(bytes: Buffer, line: number, as: Insertion['as']): number {
  let end = markLength(bytes);
  if (line === 0) return end;
  let lines = 0;
  while (end < bytes.length) {
    const at = bytes.indexOf(LF, end);
    end = at === -1 ? bytes.length : at + 1;
    lines += 1;
    if (lines === line) return end;
  }
  if (as === 'lines' && (lines === 0 || bytes.at(-1) === LF)) lines += 1;
  if (line === lines) return end;
  throw new FileError('line_out_of_range', { line, max: lines });
}

function markLength(bytes: Buffer): number {
  return bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
}

/** Returns the line break that a file uses, judged by its last one. */
function lineBreakOf(bytes: Buffer): Buffer {
  const last = bytes.lastIndexOf(LF);
  return Buffer.from(last > 0 && bytes[last - 1] === CR ? '\r\n' : '\n');
}
