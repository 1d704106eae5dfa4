import { isUtf8 } from 'node:buffer';
import type { CallerPath, Root } from '../../fence/index.ts';
import { FileError } from '../../files/errors.ts';
import { type FilePart, readFile } from '../../files/read/read-file.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { ToolError } from '../../tools/errors.ts';
import { numberedLines } from '../../wire/numbered-lines.ts';

const LF = 0x0a;
/** The most that is shown at once: far more than a model can take in. */
const MAX_VIEW_BYTES = 16 * 1024 * 1024;
/** As many as six digits can number. */
const MAX_LINES = 999_999;

/**
 * A file with numbered lines, or some of them: `range` is the first and the last, from 1, where -1 as the last is the
 * end. Like an editor, this counts the empty line after a final line break. Raises `not_text`, `result_too_large`, and `invalid_argument` for a range with no line of the file in it.
 */
export async function viewFile(root: Root, path: CallerPath, range: readonly number[] = [1, -1]): Promise<string> {
  const [from = 1, to = -1] = range;
  const first = Math.max(1, from);
  const last = to === -1 ? MAX_LINES : Math.min(to, MAX_LINES);
  const wanted = Math.max(1, last - first + 1);
  const options = { range: { by: 'lines', offset: first, limit: wanted }, maxBytes: MAX_VIEW_BYTES } as const;
  const part = await readFile(root, path, options, DEFAULT_CONTEXT);
  const total = (part.linesTotal ?? 0) + ((await endsInEmptyLine(root, path, part)) ? 1 : 0);
  if (total > MAX_LINES + 1) return `File ${path.raw} exceeds maximum line limit of 999,999 lines.`;
  if (last < first || first > total) {
    const problem = `Invalid \`view_range\` parameter: [${range.join(', ')}]. It should be within the range of lines of the file: [1, ${total}]`;
    throw new ToolError('invalid_argument', { problem });
  }
  if (!isUtf8(part.bytes)) throw new FileError('not_text', {}, { path: path.raw });
  const lines = part.bytes.toString('utf8').split('\n');
  if (isCut(part, lines, Math.min(wanted, total - first + 1))) {
    throw new ToolError('result_too_large', { size: part.size, limit: MAX_VIEW_BYTES }, { path: path.raw });
  }
  return `Here's the content of ${path.raw} with line numbers:\n${numberedLines(lines.slice(0, wanted), first)}`;
}

/** Whether an editor would show an empty line at the end, as it does for an empty file. */
async function endsInEmptyLine(root: Root, path: CallerPath, { size }: FilePart): Promise<boolean> {
  if (size === 0) return true;
  const options = { range: { by: 'bytes', offset: size - 1, limit: 1 }, maxBytes: 1 } as const;
  const { bytes } = await readFile(root, path, options, DEFAULT_CONTEXT);
  return bytes[0] === LF;
}

/** Whether less came than the lines that were asked for. A whole line is followed by one more, if only an empty one. */
function isCut({ truncated }: FilePart, lines: readonly string[], expected: number): boolean {
  return truncated && lines.length <= expected;
}
