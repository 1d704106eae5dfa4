import * as z from 'zod';
import { encodeContent } from '../../files/encoding.ts';
import { FileError } from '../../files/errors.ts';
import { type FilePart, type ReadRange, readFile as read, sliceBytes } from '../../files/read/read-file.ts';
import { ToolError } from '../../tools/errors.ts';
import { type CallContext, defineTool } from '../../tools/tool.ts';
import { type ContentJson, contentJson, plainJson } from '../../wire/content-json.ts';
import { formatSize } from '../../wire/format-size.ts';
import { concatJson } from '../../wire/json-chunks.ts';
import { truncateToFit } from '../../wire/result-size.ts';
import { filePath, rootName, SUBJECT } from './shared-schemas.ts';

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

type Output = z.output<typeof output>;

export const readFile = defineTool({
  name: 'read_file',
  description:
    'Read a file, whole or a part of it by bytes or by lines (not both). A file over the size limit must be read in parts. Bytes that are not UTF-8 come as base64. truncated: true means there is more to read.',
  needs: ['read_file'],
  effect: 'read',
  paged: true,
  subject: SUBJECT,
  input,
  output,
  run: async (args, context) => {
    const range = rangeOf(args);
    const part = await partOf(args, range, context);
    const { content, encoding, bytes } = fitting(part, range);
    const cut = bytes < part.bytes.length;
    if (cut && range.by === 'whole') {
      throw new FileError('too_large', { size: part.size, limit: bytes }, { path: args.path, root: args.root });
    }
    return {
      content,
      encoding,
      size: part.size,
      truncated: part.truncated || cut,
      ...(part.linesTotal !== undefined && { lines_total: part.linesTotal }),
      ...(part.binary && { binary: true as const }),
    };
  },
  render: (result, args) => {
    const { content } = result;
    const { plain, numbered, added } = isNumbered(result, args)
      ? contentJson(content, args.offset_lines ?? 1)
      : unnumbered(content);
    const last = metadata(result);
    return {
      result: concatJson('{"content":"', plain, `",${factsJson(result)}}`),
      // The metadata line has no characters that JSON escapes.
      text: concatJson(numbered, `\\n${last}`),
      bytes: Buffer.byteLength(content) + added + 1 + last.length,
    };
  },
  readerText: (result, args) => {
    const { content } = result;
    const text = isNumbered(result, args) ? numberedText(content, args.offset_lines ?? 1) : content;
    return `${text}\n${metadata(result)}`;
  },
  summary: metadata,
});

async function partOf({ root: name, path }: Input, range: ReadRange, context: CallContext): Promise<ReadPart> {
  const { root, agent } = context.resolveRoot(name);
  const options = { range, maxBytes: context.limits.maxFullReadSize, lineIndex: context.lineIndex };
  if (agent === undefined) return read(root, root.parse(path), options, context);
  const { bytes } = await agent.read(path);
  return agent.withLocation(path, async () => sliceBytes(bytes, options));
}

type ReadPart = Omit<FilePart, 'mtimeMs'>;

/** Truncates the content to what fits into one result. `bytes` is how many bytes of the file it represents. */
function fitting(part: ReadPart, range: ReadRange) {
  const { content: all, encoding } = encodeContent(part.bytes);
  const text = range.by === 'bytes' || encoding === 'base64' ? 'plain' : 'numbered';
  const content = truncateToFit(all, { encoding, text, bytes: part.bytes });
  const bytes = content === all ? part.bytes.length : Buffer.byteLength(content, encoding);
  return { content, encoding, bytes };
}

/** Numbers the lines of a content, without padding: a model pays for each character. */
function numberedText(content: string, first: number): string {
  const lines = content.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line, index) => `${first + index}\t${line}`).join('\n');
}

function rangeOf(args: Input): ReadRange {
  const bytes = args.offset_bytes !== undefined || args.limit_bytes !== undefined;
  const lines = args.offset_lines !== undefined || args.limit_lines !== undefined;
  if (bytes && lines) {
    const problem =
      'byte and line parameters are mutually exclusive; give offset_bytes/limit_bytes or offset_lines/limit_lines';
    throw new ToolError('invalid_argument', { problem }, { path: args.path });
  }
  if (bytes) return { by: 'bytes', offset: args.offset_bytes ?? 0, limit: args.limit_bytes };
  if (lines) return { by: 'lines', offset: args.offset_lines ?? 1, limit: args.limit_lines };
  return { by: 'whole' };
}

/** Whether the text gets line numbers. A byte range may start within a line, so it gets none. */
function isNumbered({ content, encoding }: Output, args: Input): boolean {
  const byBytes = args.offset_bytes !== undefined || args.limit_bytes !== undefined;
  return !byBytes && encoding === 'utf-8' && content !== '';
}

function unnumbered(content: string): ContentJson {
  const plain = plainJson(content);
  return { plain, numbered: plain, added: 0 };
}

function metadata({ encoding, size, truncated, lines_total, binary }: Output): string {
  const total = lines_total === undefined ? '' : `, lines_total: ${lines_total}`;
  const more = truncated ? ', truncated: there is more' : '';
  return `[size: ${formatSize(size)}, encoding: ${encoding}${total}${binary ? ', binary' : ''}${more}]`;
}

/** Serializes all fields except the content. None of them has characters that JSON escapes. */
function factsJson({ encoding, size, truncated, lines_total, binary }: Output): string {
  const total = lines_total === undefined ? '' : `,"lines_total":${lines_total}`;
  return `"encoding":"${encoding}","size":${size},"truncated":${truncated}${total}${binary ? ',"binary":true' : ''}`;
}
