import * as z from 'zod';
import { RingfenceError } from '../../errors.ts';
import { encodeContent } from '../../ops/content.ts';
import { type Range, readFile as read } from '../../ops/read-file.ts';
import { defineTool } from '../../tools/tool.ts';
import { filePath, rootName, SUBJECT } from './fields.ts';
import { formatSize } from './format-size.ts';

const input = z.strictObject({
  root: rootName,
  path: filePath,
  offset_bytes: z.int().min(0).optional(),
  limit_bytes: z.int().min(1).optional(),
  offset_lines: z.int().min(1).optional().describe('First line, from 1'),
  limit_lines: z.int().min(1).optional(),
});
type Input = z.output<typeof input>;

const output = z.object({
  content: z.string(),
  encoding: z.enum(['utf-8', 'base64']),
  size: z.int().describe('Of the whole file'),
  truncated: z.boolean().describe('There is more after this'),
  lines_total: z.int().optional(),
  binary: z.literal(true).optional(),
});

export const readFile = defineTool({
  name: 'read_file',
  description:
    'Read a file, whole or a part of it by bytes or by lines (not both). A file over the size limit must be read in parts. Bytes that are not UTF-8 come as base64. truncated: true means there is more to read.',
  needs: ['read_file'],
  effect: 'read',
  subject: SUBJECT,
  input,
  output,
  run: async (args, context) => {
    const root = context.root(args.root);
    const options = { range: rangeOf(args), maxBytes: context.limits.maxFullReadSize };
    const part = await read(root, root.parse(args.path), options, context);
    return {
      ...encodeContent(part.bytes),
      size: part.size,
      truncated: part.truncated,
      ...(part.linesTotal !== undefined && { lines_total: part.linesTotal }),
      ...(part.binary && { binary: true as const }),
    };
  },
  text: (result, args) => `${numbered(result, args)}\n${metadata(result)}`,
});

function rangeOf(args: Input): Range {
  const bytes = args.offset_bytes !== undefined || args.limit_bytes !== undefined;
  const lines = args.offset_lines !== undefined || args.limit_lines !== undefined;
  if (bytes && lines) {
    const problem =
      'byte and line parameters are mutually exclusive; give offset_bytes/limit_bytes or offset_lines/limit_lines';
    throw new RingfenceError('invalid_argument', { problem }, { path: args.path });
  }
  if (bytes) return { by: 'bytes', offset: args.offset_bytes ?? 0, limit: args.limit_bytes };
  if (lines) return { by: 'lines', offset: args.offset_lines ?? 1, limit: args.limit_lines };
  return { by: 'whole' };
}

/** The content as an editor shows it. A byte range starts anywhere in a line, so it gets no numbers. */
function numbered({ content, encoding }: z.output<typeof output>, args: Input): string {
  const byBytes = args.offset_bytes !== undefined || args.limit_bytes !== undefined;
  if (byBytes || encoding !== 'utf-8' || content === '') return content;
  const first = args.offset_lines ?? 1;
  const lines = content.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, index) => `${String(first + index).padStart(6)}\t${line}`).join('\n');
}

function metadata({ encoding, size, truncated, lines_total, binary }: z.output<typeof output>): string {
  const facts = [`size: ${formatSize(size)}`, `encoding: ${encoding}`];
  if (lines_total !== undefined) facts.push(`lines_total: ${lines_total}`);
  if (binary) facts.push('binary');
  if (truncated) facts.push('truncated: there is more');
  return `[${facts.join(', ')}]`;
}
