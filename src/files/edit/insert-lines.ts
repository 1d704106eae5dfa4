import { textToBytes } from '../encoding.ts';
import { FileError } from '../errors.ts';
import { assertText } from './assert-text.ts';
import type { EditOutcome, EditPosition } from './edit.ts';
import { lineAt } from './find-occurrences.ts';

const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

export interface Insertion {
  /** Goes below this many lines: 0 is the top. Lines end at LF. */
  readonly after: number;
  readonly text: string;
  /**
   * `text` goes in as it is, only starting a new line below a last line that lacks its end. `lines` makes it whole
   * lines wherever more follows, and counts the empty line after a final line break as an editor does.
   */
  readonly as: 'text' | 'lines';
}

/** Puts text between two lines of a file; a byte order mark stays in front, every other byte stays. */
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

/** Where the line of that number ends, its line break included. */
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

/** The line break that a file uses, by its last one. */
function lineBreakOf(bytes: Buffer): Buffer {
  const last = bytes.lastIndexOf(LF);
  return Buffer.from(last > 0 && bytes[last - 1] === CR ? '\r\n' : '\n');
}
