import { FileError } from '../../errors.ts';
import { type BinaryString, quote } from './binary-string.ts';
import { namesFile, PatchPreamble } from './patch-headers.ts';

export interface PatchLine {
  readonly kind: ' ' | '+' | '-';
  /** The line as the patch has it, a carriage return included. */
  readonly text: BinaryString;
  /** The line without a carriage return at its end. */
  readonly bare: BinaryString;
  /** False where the patch says that the file ends here without a newline. */
  newline: boolean;
}

export interface Hunk {
  /** Counted from 1. */
  readonly number: number;
  /** The numbers of the header. The start guides the search; the count is trusted only to tell 0 from the rest. */
  readonly oldStart: number;
  readonly oldCount: number;
  readonly lines: readonly PatchLine[];
  /** How many wholly empty lines at the end of the hunk may be either context whose blank was lost, or a gap. */
  readonly doubtfulBlanks: number;
}

export interface Patch {
  readonly hunks: readonly Hunk[];
  /** What the patch says that there was before it; undefined where its hunks stand alone. */
  readonly before: 'file' | 'nothing' | undefined;
}

const HUNK_HEADER = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/;

/**
 * Reads a unified diff of one file, as diff, git, svn or a model writes it. Text around the hunks is skipped, counts in
 * `@@` need not be right, file names do not matter. A mode change beside hunks is not a change of content and is ignored.
 * Raises `patch_failed` for anything that is no hunk inside a hunk, for hunks out of order, for more than one file, and
 * for what is not an edit: deletion, rename, copy, binary data.
 */
export function parsePatch(patch: BinaryString): Patch {
  const lines = splitLines(patch);
  const hunks: Hunk[] = [];
  const around = new PatchPreamble();
  for (let at = 0; at < lines.length; ) {
    if (lines[at]?.startsWith('@@')) {
      const { hunk, next } = readHunk(lines, at, hunks.length + 1);
      hunks.push(hunk);
      around.noteHunk();
      at = next;
    } else {
      around.note(lines, at++, hunks.length + 1);
    }
  }
  around.check(hunks.length);
  checkOrder(hunks);
  return { hunks, before: around.before };
}

/** A patch whose own headers end in CRLF was converted as a whole, so its carriage returns say nothing about the file. */
function splitLines(patch: BinaryString): string[] {
  const header = /^(?:--- |@@ )[^\n]*/m.exec(patch)?.[0];
  const text = header?.endsWith('\r') ? patch.replaceAll('\r\n', '\n') : patch;
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function readHunk(lines: readonly string[], at: number, number: number): { hunk: Hunk; next: number } {
  const header = HUNK_HEADER.exec(lines[at] ?? '');
  if (header === null)
    malformed(number, at, `expected "@@ -line,count +line,count @@", found ${quote(lines[at] ?? '')}`);
  const oldCount = Number(header[2] ?? 1);
  let oldLeft = oldCount;
  let newLeft = Number(header[4] ?? 1);
  const body: PatchLine[] = [];
  const add = (kind: PatchLine['kind'], text: BinaryString) => {
    body.push({ kind, text, bare: text.endsWith('\r') ? text.slice(0, -1) : text, newline: true });
    if (kind !== '+') oldLeft--;
    if (kind !== '-') newLeft--;
  };

  // Editors and models strip the blank off empty context lines. Whether empty lines belong to the hunk shows in what follows.
  let blanks: string[] = [];
  let next = at + 1;
  for (; next < lines.length; next++) {
    const line = lines[next] ?? '';
    if (line === '' || line === '\r') {
      blanks.push(line);
      continue;
    }
    if (endsHunk(lines, next, Math.max(oldLeft, newLeft) <= blanks.length)) break;
    for (const blank of blanks) add(' ', blank);
    blanks = [];
    const kind = line[0];
    const last = body.at(-1);
    if (kind === ' ' || kind === '+' || kind === '-') add(kind, line.slice(1));
    else if (kind === '\\' && last !== undefined) last.newline = false;
    else malformed(number, next, `expected a line that starts with " ", "+" or "-", found ${quote(line)}`);
  }
  const doubtfulBlanks = Math.min(blanks.length, Math.max(oldLeft, newLeft, 0));
  for (const blank of blanks.slice(0, doubtfulBlanks)) add(' ', blank);

  if (!body.some(({ kind }) => kind !== ' ')) malformed(number, at, 'it adds nothing and removes nothing');
  for (const other of ['+', '-']) {
    const side = body.filter(({ kind }) => kind !== other);
    if (side.some(({ newline }, index) => !newline && index < side.length - 1)) {
      malformed(number, at, 'lines follow the one that ends the file');
    }
  }
  return { hunk: { number, oldStart: Number(header[1]), oldCount, lines: body, doubtfulBlanks }, next };
}

/** `complete`: the counts of the header are met, so that `--- ` need not be a removed line. */
function endsHunk(lines: readonly string[], at: number, complete: boolean): boolean {
  if (lines[at]?.startsWith('@@') || isSignature(lines, at)) return true;
  const name = namesFile(lines, at);
  return name === 'header' ? complete : name !== undefined;
}

/** The mail signature under a patch from git format-patch: `-- `, the version of git, the end. */
function isSignature(lines: readonly string[], at: number): boolean {
  return (
    /^-- ?\r?$/.test(lines[at] ?? '') && /^\d+\.\d/.test(lines[at + 1] ?? '') && (lines[at + 2] ?? '').trim() === ''
  );
}

function checkOrder(hunks: readonly Hunk[]): void {
  for (const [index, hunk] of hunks.entries()) {
    const before = hunks[index - 1];
    if (before === undefined) continue;
    if (hunk.oldStart < before.oldStart) {
      const problem = `hunk ${hunk.number} is out of order: it is for line ${hunk.oldStart}, hunk ${before.number} for line ${before.oldStart}`;
      throw new FileError('patch_failed', { problem, hunk: hunk.number, line: hunk.oldStart });
    }
    if (before.lines.some(({ newline }) => !newline)) {
      const problem = `hunk ${before.number} says that it ends the file at line ${before.oldStart}, but hunk ${hunk.number} follows`;
      throw new FileError('patch_failed', { problem, hunk: before.number, line: before.oldStart });
    }
  }
}

function malformed(hunk: number, at: number, what: string): never {
  throw new FileError('patch_failed', {
    problem: `hunk ${hunk} is malformed at line ${at + 1} of the patch: ${what}`,
    hunk,
  });
}
