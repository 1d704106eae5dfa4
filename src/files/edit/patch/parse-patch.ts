import { FileError } from '../../errors.ts';
import { type BinaryString, quote } from '../text/binary-string.ts';
import { namesFile, PatchHeaders } from './patch-headers.ts';

/** A line of a hunk. */
export interface PatchLine {
  /** Context, added, or removed. */
  readonly kind: ' ' | '+' | '-';
  /** The line as in the patch, with a carriage return if it has one. */
  readonly text: BinaryString;
  /** The line without a carriage return at its end. */
  readonly bare: BinaryString;
  /** False if `\ No newline at end of file` follows the line. */
  newline: boolean;
}

/** One hunk of a unified diff. */
export interface Hunk {
  /** The number of the hunk in the patch, from 1. */
  readonly number: number;
  /** The stated first old line, at which the search for the hunk starts; undefined below a bare `@@`. */
  readonly oldStart: number | undefined;
  /** The stated number of old lines. Only whether it is 0 matters, since models often miscount. */
  readonly oldCount: number;
  readonly lines: readonly PatchLine[];
  /**
   * How many empty lines at the end of the hunk may be context without its leading space, or just a gap after the hunk.
   */
  readonly ambiguousBlanks: number;
}

/** A parsed unified diff of one file. */
export interface Patch {
  readonly hunks: readonly Hunk[];
  /** Whether the headers say that the file existed before; undefined if there are no headers. */
  readonly before: 'file' | 'nothing' | undefined;
}

const HUNK_HEADER = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;
/** A header without line numbers, as models write it. */
const BARE_HEADER = /^@@\s*(?:(?:\.\.\.|…)?\s*@@\s*)?$/;
const FENCE = /^(?:```|~~~)/;

/**
 * Parses a unified diff of one file, as written by diff, git, svn or a language model. Text around the hunks is
 * skipped, wrong line counts in `@@` headers and headers without line numbers are tolerated, file names are ignored,
 * and so is a mode change next to hunks. Raises `patch_failed` for a malformed hunk, for hunks out of order, for more
 * than one file, and for a patch that is not an edit: deletion, rename, copy, binary data.
 */
export function parsePatch(patch: BinaryString): Patch {
  const lines = splitLines(patch);
  const hunks: Hunk[] = [];
  const headers = new PatchHeaders();
  for (let at = 0; at < lines.length; ) {
    if (lines[at]?.startsWith('@@')) {
      const { hunk, next } = readHunk(lines, at, hunks.length + 1);
      hunks.push(hunk);
      headers.noteHunk();
      if (isProse(lines, next)) break;
      at = next;
    } else {
      headers.note(lines, at++, hunks.length + 1);
    }
  }
  headers.check(hunks.length);
  checkOrder(hunks);
  return { hunks, before: headers.before };
}

/** Splits a patch into lines. If its headers end in CRLF, the whole patch was converted, so all CRLF become LF. */
function splitLines(patch: BinaryString): string[] {
  const header = /^(?:--- |@@ )[^\n]*/m.exec(patch)?.[0];
  const text = header?.endsWith('\r') ? patch.replaceAll('\r\n', '\n') : patch;
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function readHunk(lines: readonly string[], at: number, number: number): { hunk: Hunk; next: number } {
  const header = HUNK_HEADER.exec(lines[at] ?? '');
  const isBare = BARE_HEADER.test(lines[at] ?? '');
  if (header === null && !isBare) {
    malformed(number, at, `expected "@@ -line,count +line,count @@" or "@@", found ${quote(lines[at] ?? '')}`);
  }
  const oldCount = isBare ? Number.POSITIVE_INFINITY : Number(header?.[2] ?? 1);
  let oldLeft = oldCount;
  let newLeft = isBare ? Number.POSITIVE_INFINITY : Number(header?.[4] ?? 1);
  const body: PatchLine[] = [];
  const add = (kind: PatchLine['kind'], text: BinaryString) => {
    body.push({ kind, text, bare: text.endsWith('\r') ? text.slice(0, -1) : text, newline: true });
    if (kind !== '+') oldLeft--;
    if (kind !== '-') newLeft--;
  };

  // Editors and models strip the space from empty context lines. What follows shows whether an empty line is part of
  // the hunk.
  let blanks: string[] = [];
  let next = at + 1;
  for (; next < lines.length; next++) {
    const line = lines[next] ?? '';
    if (line === '' || line === '\r') {
      blanks.push(line);
      continue;
    }
    const complete = isBare || Math.max(oldLeft, newLeft) <= blanks.length;
    if (endsHunk(lines, next, isBare ? lines[next + 2]?.startsWith('@@') === true : complete)) break;
    if (isProse(lines, next) && body.some(({ kind }) => kind !== ' ') && endsPatch(lines, next, complete)) break;
    for (const blank of blanks) add(' ', blank);
    blanks = [];
    const kind = line[0];
    const last = body.at(-1);
    if (kind === ' ' || kind === '+' || kind === '-') add(kind, line.slice(1));
    else if (kind === '\\' && last !== undefined) last.newline = false;
    else malformed(number, next, `expected a line that starts with " ", "+" or "-", found ${quote(line)}`);
  }
  const ambiguousBlanks = Math.min(blanks.length, Math.max(oldLeft, newLeft, 0));
  for (const blank of blanks.slice(0, ambiguousBlanks)) add(' ', blank);

  if (!body.some(({ kind }) => kind !== ' ')) malformed(number, at, 'it adds nothing and removes nothing');
  for (const other of ['+', '-']) {
    const side = body.filter(({ kind }) => kind !== other);
    if (side.some(({ newline }, index) => !newline && index < side.length - 1)) {
      malformed(number, at, 'lines follow the one that ends the file');
    }
  }
  const oldStart = header === null ? undefined : Number(header[1]);
  return { hunk: { number, oldStart, oldCount, lines: body, ambiguousBlanks }, next };
}

/** Reports whether a line cannot belong to a hunk, nor name a file or begin another hunk. */
function isProse(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? '';
  return line !== '' && !/^[ +\-\\\r]|^@@/.test(line) && namesFile(lines, at) === undefined;
}

/**
 * Reports whether the text from a line on only comments the patch: a closing fence, or prose. `complete` says that the
 * counts of the hunk above it are met. If not, or without an empty line between, text that goes on with lines of a hunk
 * may be the rest of it, with the space before a context line lost.
 */
function endsPatch(lines: readonly string[], at: number, complete: boolean): boolean {
  const rest = lines.slice(at + 1);
  if (rest.some((line) => line.startsWith('@@'))) return false;
  if (FENCE.test(lines[at] ?? '')) return true;
  const separate = (lines[at - 1] ?? '').trim() === '';
  if (!complete && !separate) return false;
  return (complete && separate) || !rest.some((line) => /^[+-]/.test(line));
}

/**
 * Reports whether a line ends the hunk. `complete` says that the header's counts are met, so `--- ` may be a file
 * header.
 */
function endsHunk(lines: readonly string[], at: number, complete: boolean): boolean {
  if (lines[at]?.startsWith('@@') || isSignature(lines, at)) return true;
  const name = namesFile(lines, at);
  return name === 'header' ? complete : name !== undefined;
}

/** Reports whether the mail signature of git format-patch starts here: `-- `, then the version of git. */
function isSignature(lines: readonly string[], at: number): boolean {
  return (
    /^-- ?\r?$/.test(lines[at] ?? '') && /^\d+\.\d/.test(lines[at + 1] ?? '') && (lines[at + 2] ?? '').trim() === ''
  );
}

function checkOrder(hunks: readonly Hunk[]): void {
  for (const [index, hunk] of hunks.entries()) {
    const before = hunks[index - 1];
    if (before === undefined) continue;
    if (hunk.oldStart !== undefined && before.oldStart !== undefined && hunk.oldStart < before.oldStart) {
      const problem = `hunk ${hunk.number} is out of order: it is for line ${hunk.oldStart}, hunk ${before.number} for line ${before.oldStart}`;
      throw new FileError('patch_failed', { problem, hunk: hunk.number, line: hunk.oldStart });
    }
    if (before.lines.some(({ newline }) => !newline)) {
      const line = before.oldStart ?? 1;
      const problem = `hunk ${before.number} says that it ends the file at line ${line}, but hunk ${hunk.number} follows`;
      throw new FileError('patch_failed', { problem, hunk: before.number, line });
    }
  }
}

function malformed(hunk: number, at: number, what: string): never {
  throw new FileError('patch_failed', {
    problem: `hunk ${hunk} is malformed at line ${at + 1} of the patch: ${what}`,
    hunk,
  });
}
