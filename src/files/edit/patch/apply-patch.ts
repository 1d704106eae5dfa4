import { textToBytes } from '../../encoding.ts';
import { FileError } from '../../errors.ts';
import { type BinaryString, BYTE_ORDER_MARK, toBinaryString, toBytes } from './binary-string.ts';
import { FileLines } from './file-lines.ts';
import { HunkLocator, type HunkPosition, oldSide } from './locate-hunk.ts';
import { type Hunk, type Patch, type PatchLine, parsePatch } from './parse-patch.ts';
import { assertWithinWorkLimit, type PatchOptions } from './work-limits.ts';

/**
 * Applies a unified diff of one file to the content of that file, all hunks or none. Works on bytes, so a file in any encoding
 * keeps what the patch does not touch.
 *
 * All old lines must match exactly, at the stated line or at an offset, with two exceptions. CRLF and LF match each other, and
 * added lines then take the ending of the lines around them. An unterminated last line matches a patch that does not mention
 * the missing newline. A byte order mark stays first.
 *
 * Raises `patch_failed`, whose `line` is always a line of the file, `invalid_encoding` for a patch with a lone surrogate, and
 * `WorkLimitExceeded` only if `options.workLimited` is set. The format:
 * https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html
 */
export function applyPatch(
  original: Buffer,
  patch: string,
  options: PatchOptions = {},
): { content: Buffer; hunksApplied: number } {
  const text = toBinaryString(original);
  if (options.workLimited) assertWithinWorkLimit(text, patch);
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const file = new FileLines(text.slice(mark.length));
  const parsed = parsePatch(encode(patch));
  refuseCreationOver(file, parsed);

  const { hunks, marked } = mark === '' ? { hunks: parsed.hunks, marked: undefined } : stripMark(parsed.hunks);
  const locator = new HunkLocator(file, hunks, options);
  const positions = hunks.map((hunk, index) => locator.locate(hunk, index === 0 && marked !== undefined));
  const body = render(file, positions);
  const keepsMark = marked?.kind !== '-' && !body.startsWith(BYTE_ORDER_MARK);
  return { content: toBytes(keepsMark ? mark + body : body), hunksApplied: hunks.length };
}

/** Converts a patch to bytes, without a byte order mark at its start. */
function encode(patch: string): BinaryString {
  const text = toBinaryString(textToBytes(patch, 'patch'));
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
}

/**
 * Raises `patch_failed` if a patch creates a file that already has content. A `-0,0` hunk creates the file, unless the headers
 * name an existing one.
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
 * Removes the byte order mark from the first old line, since the file is compared without its own. Such a line can only match
 * at the top of the file. `marked` is the line, if there is one.
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

/** Builds the new content from the file and the located hunks. */
function render(file: FileLines, positions: readonly HunkPosition[]): BinaryString {
  const pieces: BinaryString[] = [];
  let open = false;
  const emit = (piece: BinaryString) => {
    if (piece === '') return;
    if (open) pieces.push(file.endingNear(file.count));
    pieces.push(piece);
    open = !piece.endsWith('\n');
  };

  const patchShowsEndings = positions.some(({ hunk }) => hunk.lines.some(({ text, bare }) => text !== bare));
  let next = 0;
  for (const { hunk, position, end } of positions) {
    emit(file.slice(next, position));
    next = position;
    const asWritten = matchesEndings(file, oldSide(hunk), position) ?? patchShowsEndings;
    for (const line of hunk.lines) {
      if (line.kind === '+') emit(added(line, asWritten ? '\n' : file.endingNear(next), asWritten));
      else if (line.kind === ' ') emit(file.slice(next, ++next));
      else next++;
    }
    next = end;
  }
  emit(file.slice(next, file.count));
  return pieces.join('');
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
