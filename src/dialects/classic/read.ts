import { isUtf8 } from 'node:buffer';
import * as z from 'zod';
import { type FilePart, type ReadRange, readFile } from '../../files/read/read-file.ts';
import { ToolError } from '../../tools/errors.ts';
import { defineTool } from '../../tools/tool.ts';
import { truncateToFit } from '../../wire/result-size.ts';
import { formatPath, parsePath } from './path.ts';
import { fileMetadata, filePath, metadataOf } from './shared-schemas.ts';

const lineNumber = z.int().min(0).optional();

const input = z.strictObject({
  path: filePath,
  encoding: z.enum(['utf8', 'base64', 'binary']).default('utf8').describe('binary is the same as base64'),
  start_line: lineNumber.describe('First line, from 0'),
  end_line: lineNumber.describe('Last line, inclusive'),
  max_size: z.int().min(1).default(1_048_576).describe('Most bytes to read'),
});
type Input = z.output<typeof input>;

export const read = defineTool({
  name: 'read',
  description:
    "Read a file or a range of its lines. Text comes as it is, line ends included; a file that is binary or not UTF-8 comes as base64, and encoding says so. truncated: true means that it was cut at max_size or at the server's limit. size and line_count are those of the whole file.",
  needs: ['read_file'],
  effect: 'read',
  subject: ['path'],
  input,
  output: z.object({
    content: z.string(),
    encoding: z.enum(['utf8', 'base64']),
    size: z.int(),
    truncated: z.boolean(),
    line_count: z.int(),
    metadata: fileMetadata,
  }),
  run: async (args, context) => {
    const root = context.boundRoot();
    const path = parsePath(root, args.path);
    const text = args.encoding === 'utf8';
    const part = await readFile(
      root,
      path,
      {
        range: rangeOf(args),
        maxBytes: Math.min(args.max_size, context.limits.maxFullReadSize),
        cut: text ? 'characters' : 'bytes',
        lineIndex: context.lineIndex,
      },
      context,
    );
    const { content: whole, encoding } = encode(part, text);
    const content = truncateToFit(whole, { encoding, text: 'json' });
    const truncated = part.capped === true || content.length < whole.length;
    const { size } = part;
    if (truncated) {
      const returned = Buffer.byteLength(content, encoding);
      context.warn('file truncated', { path: formatPath(path), size, returned, limit: context.limits.maxFullReadSize });
    }
    const metadata = metadataOf(path, { mtimeMs: part.mtimeMs, size });
    return { content, encoding, size, truncated, line_count: part.linesTotal ?? 0, metadata };
  },
});

function rangeOf({ path, start_line: start = 0, end_line: end }: Input): ReadRange {
  if (end === undefined) return { by: 'lines', offset: start + 1 };
  if (start <= end) return { by: 'lines', offset: start + 1, limit: end - start + 1 };
  const problem = `start_line (${start}) must not be greater than end_line (${end})`;
  throw new ToolError('invalid_argument', { argument: 'start_line', problem }, { path });
}

/** Encodes bytes as text if text was asked for and they are valid UTF-8, else as base64, so that no byte is lost. */
function encode({ bytes, binary }: FilePart, text: boolean): { content: string; encoding: 'utf8' | 'base64' } {
  const encoding = text && !binary && isUtf8(bytes) ? 'utf8' : 'base64';
  return { content: bytes.toString(encoding), encoding };
}
