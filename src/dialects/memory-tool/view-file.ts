import { isUtf8 } from 'node:buffer';
import type { CallerPath, Root } from '../../fence/index.ts';
import { FileError } from '../../files/errors.ts';
import { type FilePart, readFile } from '../../files/read/read-file.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { ToolError } from '../../tools/errors.ts';
import { numberedLines } from '../../wire/content-json.ts';

const LF = 0x0a;
/** The most that is shown at once, far more than the context window of a model. */
const MAX_VIEW_BYTES = 16 * 1024 * 1024;
/** The largest six-digit line number; the documented format has six digits. */
const MAX_LINES = 999_999;

/**
 * Returns a file, or some of its lines, with line numbers. `range` is the first and last line, counted from 1; a last
 * line of -1 means the end. The empty line after a final line break counts, as in an editor. Raises `not_text`,
 * `result_too_large`, `invalid_argument` for a range without a line of the file, and the codes of `readFile`.
 */
export async function viewFile(root: Root, path: CallerPath, range: readonly number[] = [1, -1]): Promise<string> {
  const [from = 1, to = -1] = range;
  const first = Math.max(1, from);
  const last = to === -1 ? MAX_LINES : Math.min(to, MAX_LINES);
  const wanted = Math.max(1, last - first + 1);
  const options = { range: { by: 'lines', offset: first, limit: wanted }, maxBytes: MAX_VIEW_BYTES } as const;
  const part = await readFile(root, path, options, DEFAULT_CONTEXT);
  const lineCount = part.linesTotal ?? 0;
  if (lineCount > MAX_LINES) return `File ${path.raw} exceeds maximum line limit of 999,999 lines.`;
  const total = lineCount + ((await endsInEmptyLine(root, path, part)) ? 1 : 0);
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

/** Whether the file is empty or ends with a line break, so that an editor shows an empty last line. */
async function endsInEmptyLine(root: Root, path: CallerPath, { size }: FilePart): Promise<boolean> {
  if (size === 0) return true;
  const options = { range: { by: 'bytes', offset: size - 1, limit: 1 }, maxBytes: 1 } as const;
  const { bytes } = await readFile(root, path, options, DEFAULT_CONTEXT);
  return bytes[0] === LF;
}

/**
 * Whether the last line is incomplete. A complete line is followed by a line break, and so by one more element of
 * `lines`.
 */
function isCut({ truncated }: FilePart, lines: readonly string[], expected: number): boolean {
  return truncated && lines.length <= expected;
}
