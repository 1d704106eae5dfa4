import { textToBytes } from '../../encoding.ts';
import { FileError } from '../../errors.ts';
import { type BinaryString, BYTE_ORDER_MARK, toBinaryString, toBytes } from './binary-string.ts';
import { FileLines } from './file-lines.ts';
import { HunkLocator, type HunkPosition, oldSide } from './locate-hunk.ts';
import { type Hunk, type Patch, type PatchLine, parsePatch } from './parse-patch.ts';
import { assertWithinTimeLimit, type PatchOptions } from './work-limits.ts';

/**
 * Applies a unified diff of one file to that file's bytes: all hunks, or none. Works on bytes, so a file in any encoding
 * keeps what the patch does not touch. A missing file is an empty one.
 *
 * Old lines must all be there, at the stated place or at an offset, never approximately. Line endings are the one liberty:
 * CRLF and LF match each other, and added lines take the ending of the file around them unless the patch matched it
 * exactly. A missing newline at the end of the file is forgiven to a patch that does not mention it. A BOM stays first.
 *
 * Raises `patch_failed`, whose `line` is always a line of the file, and `invalid_encoding`; `TimeLimitExceeded` if asked to.
 */
export function applyPatch(
  original: Buffer,
  patch: string,
  options: PatchOptions = {},
): { content: Buffer; hunksApplied: number } {
  const text = toBinaryString(original);
  if (options.timeLimited) assertWithinTimeLimit(text, patch);
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const file = new FileLines(text.slice(mark.length));
  const parsed = parsePatch(encode(patch));
  refuseCreationOver(file, parsed);

  const { hunks, marked } = mark === '' ? { hunks: parsed.hunks, marked: undefined } : unmarkTop(parsed.hunks);
  const locator = new HunkLocator(file, hunks, options);
  const places = hunks.map((hunk, index) => locator.locate(hunk, index === 0 && marked !== undefined));
  const body = render(file, places);
  const keepsMark = marked?.kind !== '-' && !body.startsWith(BYTE_ORDER_MARK);
  return { content: toBytes(keepsMark ? mark + body : body), hunksApplied: hunks.length };
}

function encode(patch: string): BinaryString {
  const text = toBinaryString(textToBytes(patch, 'patch'));
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
}

/** A hunk for `-0,0` makes a file, unless the patch names the file to whose top it adds. */
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

/** A first old line that shows the file's BOM can only be the top of the file, which is compared without it. */
function unmarkTop(hunks: readonly Hunk[]): { hunks: readonly Hunk[]; marked: PatchLine | undefined } {
  const [first, ...rest] = hunks;
  const marked = first?.lines.find(({ kind }) => kind !== '+');
  if (first === undefined || marked?.bare.startsWith(BYTE_ORDER_MARK) !== true) return { hunks, marked: undefined };
  const from = BYTE_ORDER_MARK.length;
  const unmarked = { ...marked, text: marked.text.slice(from), bare: marked.bare.slice(from) };
  const lines = first.lines.map((line) => (line === marked ? unmarked : line));
  return { hunks: [{ ...first, lines }, ...rest], marked };
}

function render(file: FileLines, places: readonly HunkPosition[]): BinaryString {
  const pieces: BinaryString[] = [];
  let open = false;
  const emit = (piece: BinaryString) => {
    if (piece === '') return;
    if (open) pieces.push(file.endingNear(file.count));
    pieces.push(piece);
    open = !piece.endsWith('\n');
  };

  const patchShowsEndings = places.some(({ hunk }) => hunk.lines.some(({ text, bare }) => text !== bare));
  let next = 0;
  for (const { hunk, position, end } of places) {
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

/** Whether the patch shows the line endings that the file has; undefined where no line tells. */
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
