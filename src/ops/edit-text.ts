import { isUtf8 } from 'node:buffer';
import { RingfenceError } from '../errors.ts';
import type { CallerPath, Root } from '../fence/index.ts';
import { textToBytes } from './content.ts';
import { findOccurrences, lineAt } from './find-occurrences.ts';
import { rewriteFile } from './rewrite-file.ts';

const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

export interface EditOptions {
  /** Wait until the disk has it. */
  readonly durable: boolean;
}

export interface Replacement {
  /** Has to be in the file exactly once. */
  readonly oldText: string;
  /** Taken as it is: no character in it means anything else. */
  readonly newText: string;
}

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

export interface Edited {
  /** The whole file after the edit. */
  readonly content: Buffer;
  /** The line, from 1, on which the new text starts. */
  readonly line: number;
}

/**
 * Replaces a text that a file holds exactly once; every other byte stays. Raises `not_found`, `not_text`,
 * `text_not_found`, `text_not_unique`, and `invalid_encoding` for a new text that UTF-8 cannot hold.
 */
export async function replaceText(
  root: Root,
  path: CallerPath,
  { oldText, newText }: Replacement,
  options: EditOptions,
): Promise<Edited> {
  const added = textToBytes(newText, 'newText');
  return editText(root, path, options, (original) => {
    // A lone surrogate would become U+FFFD, which may well be in the file.
    if (!oldText.isWellFormed()) throw new RingfenceError('text_not_found', {});
    const old = Buffer.from(oldText, 'utf8');
    const { count, first, lines } = findOccurrences(original, old);
    if (count === 0) throw new RingfenceError('text_not_found', {});
    if (count > 1) throw new RingfenceError('text_not_unique', { count, lines });
    const content = Buffer.concat([original.subarray(0, first), added, original.subarray(first + old.length)]);
    return { content, line: lines[0] ?? 1 };
  });
}

/**
 * Puts text between two lines of a file; a byte order mark stays in front, every other byte stays. Raises `not_found`,
 * `not_text`, `line_out_of_range`, and `invalid_encoding` for a text that UTF-8 cannot hold.
 */
export async function insertText(
  root: Root,
  path: CallerPath,
  { after, text, as }: Insertion,
  options: EditOptions,
): Promise<Edited> {
  const added = textToBytes(text, 'text');
  return editText(root, path, options, (original) => {
    const position = endOfLine(original, after, as);
    const before = original.subarray(0, position);
    const rest = original.subarray(position);
    const lineBreak = lineBreakOf(original);
    const opensLine =
      added.length > 0 && rest.length === 0 && position > markLength(original) && original.at(-1) !== LF;
    const closesLine = as === 'lines' && !opensLine && added.at(-1) !== LF;
    const content = Buffer.concat([
      before,
      opensLine ? lineBreak : Buffer.alloc(0),
      added,
      closesLine ? lineBreak : Buffer.alloc(0),
      rest,
    ]);
    return { content, line: lineAt(original, position) + (opensLine ? 1 : 0) };
  });
}

async function editText(root: Root, path: CallerPath, { durable }: EditOptions, edit: (original: Buffer) => Edited) {
  return rewriteFile(root, path, {
    durable,
    change: (original) => {
      if (original === undefined) throw new RingfenceError('not_found', {});
      if (!isUtf8(original)) throw new RingfenceError('not_text', {});
      const result = edit(original);
      return { content: result.content, result };
    },
  });
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
  throw new RingfenceError('line_out_of_range', { line, max: lines });
}

function markLength(bytes: Buffer): number {
  return bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
}

/** The line break that a file uses, by its last one. */
function lineBreakOf(bytes: Buffer): Buffer {
  const last = bytes.lastIndexOf(LF);
  return Buffer.from(last > 0 && bytes[last - 1] === CR ? '\r\n' : '\n');
}
