import { isUtf8 } from 'node:buffer';
import { FenceError } from '../../../fence/index.ts';
import { textToBytes } from '../../encoding.ts';
import { FileError } from '../../errors.ts';
import { type ChangedRange, unifiedDiff } from '../diff/unified-diff.ts';
import { type BinaryString, toBinaryString, toBytes } from '../text/binary-string.ts';
import type { EditOutcome } from '../text/edit-outcome.ts';
import { findOccurrences } from '../text/find-occurrences.ts';
import { lowerBound } from '../text/lower-bound.ts';
import { explainMissing } from './explain-missing.ts';
import { FoldedText, type TextRange } from './folded-text.ts';

/** The replacement of a text, once or wherever it occurs. */
export interface TextReplacement {
  readonly oldText: string;
  /** The new text, inserted literally. */
  readonly newText: string;
  /** Replace every occurrence, from the first on, where they overlap. By default the text must occur exactly once. */
  readonly replaceAll?: boolean;
}

/** What a list of replacements did. */
export interface ReplacementsResult {
  /** How many occurrences were replaced. */
  readonly replacements: number;
  /** The line of the new content, from 1, at which each replacement begins; at most the first thousand. */
  readonly lines: readonly number[];
  /** The hunks of a unified diff, as `unifiedDiff` writes them. */
  readonly diff: string;
}

/** The most replacements whose lines are reported. */
const MAX_LINES = 1_000;

/**
 * Makes replacements in order, each in the result of those before it, all or none. Texts must match exactly, except
 * that CRLF and LF match each other; a new text takes the line endings around it. Works on bytes, so that a file in any
 * encoding keeps what is not replaced.
 *
 * Raises `not_found` if there is no file, `text_not_found` and `text_not_unique` with the number of the replacement,
 * `not_text` for characters beyond ASCII in a file that is not UTF-8 and for UTF-16, and `invalid_encoding` for a new
 * text with a lone surrogate.
 */
export function applyReplacements(
  original: Buffer | undefined,
  replacements: readonly TextReplacement[],
): EditOutcome<ReplacementsResult> {
  if (original === undefined) throw new FenceError('not_found', {});
  assertEncodable(original, replacements);
  const raw = toBinaryString(original);
  const before = FoldedText.fold(raw);
  let now = before;
  let ranges: ChangedRange[] = [];
  let starts: number[] = [];
  let count = 0;
  for (const [index, { oldText, newText, replaceAll = false }] of replacements.entries()) {
    const old = FoldedText.fold(toBinaryString(Buffer.from(oldText, 'utf8'))).text;
    const put = FoldedText.fold(toBinaryString(textToBytes(newText, 'new_text')));
    const found = occurrences(now.text, old, replaceAll);
    if (found.length === 0 || !oldText.isWellFormed()) throw missing(now.text, old, put.text, index);
    if (found.length > 1 && !replaceAll) throw ambiguous(now.text, old, index);
    // What both texts begin or end with is not touched, so that its lines keep their endings.
    const { head, tail } = commonEnds(old, put.text);
    const replaced = found.map((at) => ({ start: at + head, end: at + old.length - tail }));
    const middle = put.slice(head, put.text.length - tail);
    const growth = put.text.length - old.length;
    const own = found.slice(0, MAX_LINES - starts.length).map((at, nth) => at + nth * growth);
    starts = [...starts.map(movedBy(replaced, growth)), ...own];
    ranges = compose(ranges, replaced, middle.text.length);
    now = now.replace(replaced, middle);
    count += found.length;
  }
  const after = now.unfold();
  const unfolded = ranges.map((range) => ({
    oldStart: before.unfoldedOffset(range.oldStart),
    oldEnd: before.unfoldedOffset(range.oldEnd),
    newStart: now.unfoldedOffset(range.newStart),
    newEnd: now.unfoldedOffset(range.newEnd),
  }));
  const result = { replacements: count, lines: linesAt(now.text, starts), diff: unifiedDiff(raw, after, unfolded) };
  return { content: toBytes(after), result };
}

/** Raises `not_text` if a replacement could damage a file in another encoding, and `not_text` for UTF-16. */
function assertEncodable(original: Buffer, replacements: readonly TextReplacement[]): void {
  const isUtf16 = original[0] === 0xff ? original[1] === 0xfe : original[0] === 0xfe && original[1] === 0xff;
  const isAscii = (text: string): boolean => !/[^\u0000-\u007f]/.test(text);
  if (isUtf16) throw new FileError('not_text', {});
  if (replacements.every(({ oldText, newText }) => isAscii(oldText) && isAscii(newText))) return;
  if (!isUtf8(original)) throw new FileError('not_text', {});
}

/**
 * Returns where a text occurs, from the first on, without overlaps. Unless all are wanted, returns at most two, and
 * these may overlap: "aa" is not unique in "aaa". An empty text does not occur.
 */
function occurrences(text: BinaryString, wanted: BinaryString, all: boolean): number[] {
  const found: number[] = [];
  if (wanted === '') return found;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + (all ? wanted.length : 1))) {
    found.push(at);
    if (!all && found.length === 2) break;
  }
  return found;
}

function missing(text: BinaryString, old: BinaryString, put: BinaryString, index: number): FileError<'text_not_found'> {
  const explanation = explainMissing(text, old, put);
  return new FileError('text_not_found', { edit: index + 1, explanation });
}

function ambiguous(text: BinaryString, old: BinaryString, index: number): FileError<'text_not_unique'> {
  const { count, lines } = findOccurrences(toBytes(text), toBytes(old));
  return new FileError('text_not_unique', { count, lines, edit: index + 1 });
}

/** Returns the lengths of what two texts begin and end with in common, without overlap. */
function commonEnds(one: BinaryString, other: BinaryString): { head: number; tail: number } {
  const most = Math.min(one.length, other.length);
  let head = 0;
  while (head < most && one[head] === other[head]) head++;
  let tail = 0;
  while (tail < most - head && one[one.length - 1 - tail] === other[other.length - 1 - tail]) tail++;
  return { head, tail };
}

/**
 * Returns a function that maps a position to where it is after ranges were replaced by texts that are longer by
 * `growth`.
 */
function movedBy(ranges: readonly TextRange[], growth: number): (at: number) => number {
  const ends = ranges.map(({ end }) => end);
  return (at) => {
    const before = lowerBound(ends, at + 1);
    return Math.min(at, ranges[before]?.start ?? at) + before * growth;
  };
}

/** Combines the ranges that differ so far with those that are replaced next. Both are in order. */
function compose(earlier: readonly ChangedRange[], next: readonly TextRange[], length: number): ChangedRange[] {
  const composed: ChangedRange[] = [];
  // How far a position between ranges is off from the text before all edits, and from the text after the next one.
  let toOld = 0;
  let toNew = 0;
  let i = 0;
  let j = 0;
  while (i < earlier.length || j < next.length) {
    const start = Math.min(
      earlier[i]?.newStart ?? Number.POSITIVE_INFINITY,
      next[j]?.start ?? Number.POSITIVE_INFINITY,
    );
    const oldStart = start + toOld;
    const newStart = start + toNew;
    let end = start;
    for (;;) {
      const one = earlier[i];
      const two = next[j];
      if (one !== undefined && one.newStart <= end) {
        end = Math.max(end, one.newEnd);
        toOld = one.oldEnd - one.newEnd;
        i++;
      } else if (two !== undefined && two.start <= end) {
        end = Math.max(end, two.end);
        toNew += length - (two.end - two.start);
        j++;
      } else break;
    }
    composed.push({ oldStart, oldEnd: end + toOld, newStart, newEnd: end + toNew });
  }
  return composed;
}

/** Returns the lines, from 1, of positions in a text. */
function linesAt(text: BinaryString, positions: readonly number[]): number[] {
  const lines = new Map<number, number>();
  let line = 1;
  let newline = text.indexOf('\n');
  for (const position of [...positions].sort((a, b) => a - b)) {
    for (; newline !== -1 && newline < position; newline = text.indexOf('\n', newline + 1)) line++;
    lines.set(position, line);
  }
  return positions.map((position) => lines.get(position) ?? 1);
}
