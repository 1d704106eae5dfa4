import { textToBytes } from '../../encoding.ts';
import { FileError } from '../../errors.ts';
import { type ChangedRange, unifiedDiff } from '../diff/unified-diff.ts';
import { type BinaryString, BYTE_ORDER_MARK, toBinaryString, toBytes } from '../text/binary-string.ts';
import type { EditOutcome } from '../text/edit-outcome.ts';
import { FileLines } from './file-lines.ts';
import { HunkLocator, type HunkPosition, oldSide } from './locate-hunk.ts';
import { type Hunk, type Patch, type PatchLine, parsePatch } from './parse-patch.ts';
import { assertWithinWorkLimit, type PatchOptions } from './work-limits.ts';

/** What a patch did. */
export interface PatchResult {
  /** The line of the new content, from 1, at which each hunk begins. */
  readonly hunks: readonly { readonly line: number }[];
  /** The hunks of a unified diff of what was changed, as `unifiedDiff` writes them. */
  readonly diff: string;
}

/**
 * Applies a unified diff of one file to the content of that file, all hunks or none. Works on bytes, so a file in any
 * encoding keeps what the patch does not touch.
 *
 * All old lines must match exactly, at the stated line or at the only other place, with two exceptions. CRLF and LF
 * match each other, and added lines then take the ending of the lines around them. An unterminated last line matches a
 * patch that does not mention the missing newline. A byte order mark stays first.
 *
 * Raises `patch_failed`, whose `line` is always a line of the file, `invalid_encoding` for a patch with a lone
 * surrogate, and `WorkLimitExceeded` only if `options.workLimited` is set. The format:
 * https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html
 */
export function applyPatch(original: Buffer, patch: string, options: PatchOptions = {}): EditOutcome<PatchResult> {
  const text = toBinaryString(original);
  if (options.workLimited) assertWithinWorkLimit(text, patch);
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const file = new FileLines(text.slice(mark.length));
  const parsed = parsePatch(encode(patch));
  refuseCreationOver(file, parsed);

  const { hunks, marked } = mark === '' ? { hunks: parsed.hunks, marked: undefined } : stripMark(parsed.hunks);
  const locator = new HunkLocator(file, hunks, options);
  const positions = hunks.map((hunk, index) => locator.locate(hunk, index === 0 && marked !== undefined));
  const { body, ranges } = render(file, positions);
  const keepsMark = marked?.kind !== '-' && !body.startsWith(BYTE_ORDER_MARK);
  const patched = keepsMark ? mark + body : body;
  const shifted = ranges.map((range) => shift(range, mark.length, patched.length - body.length));
  return {
    content: toBytes(patched),
    result: {
      hunks: firstLines(positions).map((line) => ({ line })),
      diff: unifiedDiff(text, patched, shifted),
    },
  };
}

/** Returns the line of the new content, from 1, at which each hunk begins. */
function firstLines(positions: readonly HunkPosition[]): number[] {
  let added = 0;
  return positions.map(({ hunk, position }) => {
    const line = position + added + 1;
    for (const { kind } of hunk.lines) added += kind === '+' ? 1 : kind === '-' ? -1 : 0;
    return line;
  });
}

function shift(range: ChangedRange, old: number, now: number): ChangedRange {
  return {
    oldStart: range.oldStart + old,
    oldEnd: range.oldEnd + old,
    newStart: range.newStart + now,
    newEnd: range.newEnd + now,
  };
}

/** Converts a patch to bytes, without a byte order mark at its start. */
function encode(patch: string): BinaryString {
  const text = toBinaryString(textToBytes(patch, 'patch'));
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
}

/**
 * Raises `patch_failed` if a patch creates a file that already has content. A `-0,0` hunk creates the file, unless the
 * headers name an existing one.
 */
function refuseCreationOver(file: FileLines, { hunks, before }: Patch): void {
  if (file.count === 0 || before === 'file') return;
  const isCreation = (hunk: Hunk) => hunk.oldStart === 0 && oldSide(hunk).length === 0;
  const hunk = before === 'nothing' ? hunks[0] : hunks.find(isCreation);
  if (hunk === undefined) return;
  throw new FileError('patch_failed', {
    problem: `hunk ${hunk.number} does not match at line 1: it creates a file, but the file already has content (to insert at the top, give the first line as context)`,
    hunk: hunk.number,
    line: 1,
  });
}

/**
 * Removes the byte order mark from the first old line, since the file is compared without its own. Such a line can only
 * match at the top of the file. `marked` is the line, if there is one.
 */
function stripMark(hunks: readonly Hunk[]): { hunks: readonly Hunk[]; marked: PatchLine | undefined } {
  const [first, ...rest] = hunks;
  const marked = first?.lines.find(({ kind }) => kind !== '+');
  if (first === undefined || marked?.bare.startsWith(BYTE_ORDER_MARK) !== true) return { hunks, marked: undefined };
  const from = BYTE_ORDER_MARK.length;
  const unmarked = { ...marked, text: marked.text.slice(from), bare: marked.bare.slice(from) };
  const lines = first.lines.map((line) => (line === marked ? unmarked : line));
  return { hunks: [{ ...first, lines }, ...rest], marked };
}

/** Builds the new content from the file and the located hunks, and returns which ranges may differ. */
function render(
  file: FileLines,
  positions: readonly HunkPosition[],
): { body: BinaryString; ranges: readonly ChangedRange[] } {
  const pieces: BinaryString[] = [];
  const ranges: ChangedRange[] = [];
  let open = false;
  let length = 0;
  const push = (piece: BinaryString) => {
    pieces.push(piece);
    length += piece.length;
  };
  const emit = (piece: BinaryString) => {
    if (piece === '') return;
    if (open) push(file.endingNear(file.count));
    push(piece);
    open = !piece.endsWith('\n');
  };

  const patchShowsEndings = positions.some(({ hunk }) => hunk.lines.some(({ text, bare }) => text !== bare));
  let next = 0;
  for (const { hunk, position, end } of positions) {
    emit(file.slice(next, position));
    next = position;
    const newStart = length;
    const asWritten = matchesEndings(file, oldSide(hunk), position) ?? patchShowsEndings;
    for (const line of hunk.lines) {
      if (line.kind === '+') emit(added(line, asWritten ? '\n' : file.endingNear(next), asWritten));
      else if (line.kind === ' ') emit(file.slice(next, ++next));
      else next++;
    }
    next = end;
    ranges.push({ oldStart: file.offset(position), oldEnd: file.offset(end), newStart, newEnd: length });
  }
  emit(file.slice(next, file.count));
  return { body: pieces.join(''), ranges };
}

function added(line: PatchLine, ending: BinaryString, asWritten: boolean): BinaryString {
  if (!line.newline) return line.text;
  return (asWritten ? line.text : line.bare) + ending;
}

/** Reports whether the old lines have the same line endings as the file; undefined if no line can be compared. */
function matchesEndings(file: FileLines, old: readonly PatchLine[], position: number): boolean | undefined {
  let known: boolean | undefined;
  for (const [offset, { text, bare }] of old.entries()) {
    const index = position + offset;
    if (!file.isTerminated(index)) continue;
    if (file.hasCarriageReturn(index) !== (text !== bare)) return false;
    known = true;
  }
  return known;
}
