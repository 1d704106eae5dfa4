import { diffLines } from '../diff/diff-lines.ts';
import { type BinaryString, toBytes } from '../text/binary-string.ts';
import { isSpace, type LooseText, loosen } from './loose-text.ts';
import { Differences, quoted } from './name-differences.ts';
import { findSimilarLines } from './similar-lines.ts';

/** The most bytes of a file in which the nearest passage is looked for. */
const MAX_SEARCHED = 8 * 1024 * 1024;
/** The most characters of the passage, and of one of its lines, that are shown. */
const MAX_SHOWN = 1_200;
const MAX_SHOWN_LINE = 300;
/** The most differences that are named. */
const MAX_DIFFERENCES = 4;
/** The shortest new text whose presence says something. */
const MIN_NEW_TEXT = 12;

/**
 * Explains in one line why a text was not found in a file: shows the passage that is most like it, with its lines, and
 * names what differs, so that the next try can succeed. Takes time linear in the size of the file, of which at most 8
 * MB are looked at.
 */
export function explainMissing(text: BinaryString, old: BinaryString, put: BinaryString): string {
  const file = decode(text.slice(0, MAX_SEARCHED));
  const wanted = decode(old);
  const added = decode(put);
  const done = added.trim().length >= MIN_NEW_TEXT ? file.indexOf(added) : -1;
  const hints = [
    ...(done === -1 ? [] : [`new_text is already there, at line ${lineAt(file, done)}: the edit may be done`]),
  ];
  const bare = withoutLineNumbers(wanted);
  if (bare !== undefined && file.includes(bare)) {
    return [...hints, 'old_text has line numbers before its lines, which are not in the file: leave them out'].join(
      '; ',
    );
  }
  const loose = loosen(file);
  const passage =
    findAlike(file, loose, wanted) ?? findNormalized(file, wanted) ?? findSimilar(file, loose, wanted) ?? whole(file);
  return [...hints, passage].join('; ');
}

/** Finds a passage that is the same but for white space, case, quotes and dashes. */
function findAlike(file: string, { loose, at }: LooseText, wanted: string): string | undefined {
  const core = loosen(wanted);
  if (core.loose === '') return undefined;
  const index = loose.indexOf(core.loose);
  if (index === -1) return undefined;
  const start = at[index] ?? 0;
  const end = (at[index + core.loose.length - 1] ?? 0) + 1;
  // White space at the ends of the text is compared with what stands around the passage.
  const from = start - spaceBefore(file.slice(0, start), /^\s*/.exec(wanted)?.[0] ?? '');
  const to = end + spaceAfter(file.slice(end, end + MAX_SHOWN), wanted.slice(wanted.trimEnd().length));
  const line = lineAt(file, from);
  const differences = new Differences();
  differences.compareAlike(file.slice(from, to), wanted, line);
  return show(file, from, to, differences.describe());
}

/**
 * Finds a passage that has the same characters, but composed or decomposed otherwise
 * (https://unicode.org/reports/tr15/).
 */
function findNormalized(file: string, wanted: string): string | undefined {
  for (const form of ['NFC', 'NFD'] as const) {
    const at = file.indexOf(wanted.normalize(form));
    if (at !== -1) return `line ${lineAt(file, at)} has it in another Unicode form: write old_text in ${form}`;
  }
  return undefined;
}

/** Shows a short file whole, since nothing in it is like the text. */
function whole(file: string): string {
  const nothing = 'nothing in the file is like it';
  if (file.length > MAX_SHOWN) return `${nothing}: read the file again`;
  return file === '' ? 'the file is empty' : `${nothing}; the whole file: ${JSON.stringify(file)}`;
}

/** Returns how much white space at the end of a text is to be compared with that at the beginning of another. */
function spaceBefore(text: string, wanted: string): number {
  if (text.endsWith(wanted)) return wanted.length;
  let from = text.length;
  for (let left = countBreaks(wanted); isSpace(text[from - 1]); from--) {
    if (text[from - 1] === '\n' && left-- === 0) break;
  }
  return text.length - from;
}

/** Returns how much white space at the beginning of a text is to be compared with that at the end of another. */
function spaceAfter(text: string, wanted: string): number {
  if (text.startsWith(wanted)) return wanted.length;
  let to = 0;
  for (let left = countBreaks(wanted); isSpace(text[to]); to++) {
    if (text[to] !== '\n') continue;
    if (left-- === 0) break;
    // The indentation of the next line counts only if the text has one.
    if (left === 0 && wanted.endsWith('\n')) return to + 1;
  }
  return to;
}

/**
 * Returns a text without the blank lines at its beginning and end. In linear time, unlike a regular expression with
 * `$`.
 */
function withoutBlankEnds(text: string): string {
  const first = text.length - text.trimStart().length;
  const last = text.trimEnd().length;
  const from = text.lastIndexOf('\n', first - 1) + 1;
  const lineEnd = text.indexOf('\n', last);
  return first >= last ? '' : text.slice(from, lineEnd === -1 ? text.length : lineEnd);
}

/** Finds a passage that has most words in common, line by line. */
function findSimilar(file: string, loose: LooseText, wanted: string): string | undefined {
  const trimmed = withoutBlankEnds(wanted);
  const found = findSimilarLines(loose, loosen(trimmed));
  if (found === undefined) return undefined;
  const from = startOfLine(file, found.start);
  const to = endOfLines(file, from, found.end - found.start);
  const inFile = file.slice(from, to).split('\n');
  const inWanted = trimmed.split('\n');
  const differences = new Differences();
  const reduced = (lines: readonly string[]): string[] => lines.map((line) => loosen(line).loose);
  let [i, j] = [0, 0];
  const alike = (end: number): void => {
    for (; i < end; i++, j++) {
      const isEdge = j === 0 || j === inWanted.length - 1;
      if (!isEdge) differences.compareAlike(inFile[i] ?? '', inWanted[j] ?? '', found.start + i + 1);
    }
  };
  for (const change of diffLines(reduced(inFile), reduced(inWanted))) {
    alike(change.oldStart);
    for (; i < change.oldEnd && j < change.newEnd; i++, j++) {
      differences.compareWords(inFile[i] ?? '', inWanted[j] ?? '', found.start + i + 1);
    }
    for (; i < change.oldEnd; i++) {
      differences.note('a line that is only in the file', found.start + i + 1, quoted(inFile[i] ?? ''));
    }
    for (; j < change.newEnd; j++) {
      differences.note('a line that is only in old_text', found.start + i + 1, quoted(inWanted[j] ?? ''));
    }
  }
  alike(inFile.length);
  return show(file, from, to, differences.describe());
}

/** Words the passage: its lines, its text, and what differs. */
function show(file: string, from: number, to: number, differences: readonly string[]): string {
  const first = lineAt(file, from);
  const last = first + countBreaks(file.slice(from, to).replace(/\n$/, ''));
  const start = file.lastIndexOf('\n', from - 1) + 1;
  const whole = endOfLines(file, from === 0 ? 0 : start, last - first + 1);
  const passage = cut(file.slice(from === 0 ? 0 : start, whole), from - start);
  const named = differences.slice(0, MAX_DIFFERENCES).join('; ');
  const lines = first === last ? `line ${first}` : `lines ${first}-${last}`;
  // As JSON, the form in which the next call has to send it, which also shows tabs and trailing spaces.
  return `nearest passage, ${lines}: ${JSON.stringify(passage)}; it differs in ${named || 'its edges'}`;
}

/** Cuts a passage to what a message may hold; of a very long line, what is around `at` is kept. */
function cut(passage: string, at: number): string {
  const lines = passage.split('\n').map((line, index) => {
    if (line.length <= MAX_SHOWN_LINE) return line;
    const from = index === 0 ? Math.max(at - MAX_SHOWN_LINE / 3, 0) : 0;
    const part = line.slice(from, from + MAX_SHOWN_LINE).toWellFormed();
    return `${from > 0 ? '…' : ''}${part}${from + MAX_SHOWN_LINE < line.length ? '…' : ''}`;
  });
  let length = 0;
  const fitting = lines.findIndex((line) => {
    length += line.length + 1;
    return length > MAX_SHOWN;
  });
  if (fitting === -1) return lines.join('\n');
  return [...lines.slice(0, fitting), `[${lines.length - fitting} more lines]`].join('\n');
}

/**
 * Returns a text without the line numbers that `read_file` shows before its lines; undefined if not all lines have one.
 */
function withoutLineNumbers(text: string): string | undefined {
  const lines = text.replace(/\n$/, '').split('\n');
  const bare = lines.map((line) => /^\s*\d+(?:\t|→|[:|] ?)(.*)$/.exec(line)?.[1]);
  return bare.every((line) => line !== undefined) && bare.join('').trim() !== '' ? bare.join('\n') : undefined;
}

function decode(text: BinaryString): string {
  return toBytes(text).toString('utf8');
}

function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < position; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

function startOfLine(text: string, index: number): number {
  let start = 0;
  for (let line = 0; line < index; line++) start = text.indexOf('\n', start) + 1 || text.length;
  return start;
}

/** Returns where the last of some lines ends, before its line break. */
function endOfLines(text: string, start: number, count: number): number {
  let end = start;
  for (let line = 0; line < count && end <= text.length; line++) {
    const newline = text.indexOf('\n', end);
    if (newline === -1) return text.length;
    end = newline + 1;
  }
  return end - 1;
}

function countBreaks(text: string): number {
  return text.split('\n').length - 1;
}
