import * as z from 'zod';
import { FileError } from '../../files/errors.ts';
import { mediaTypeOf } from '../../files/read/media-type.ts';
import { type ReadRange, readFile as read, sliceBytes } from '../../files/read/read-file.ts';
import { ToolError } from '../../tools/errors.ts';
import { type CallContext, defineTool, type MediaContent } from '../../tools/tool.ts';
import { type ContentJson, contentJson, plainJson } from '../../wire/content-json.ts';
import { formatSize } from '../../wire/format-size.ts';
import { concatJson } from '../../wire/json-chunks.ts';
import { escapeJson } from '../../wire/json-escaper.ts';
import { truncateToFit } from '../../wire/result-size.ts';
import {
  assertEncoding,
  byteLengthOf,
  contentOf,
  type PartContent,
  type ReadPart,
  utf16Order,
} from './file-content.ts';
import { type ReadView, viewOf } from './read-view.ts';
import { filePath, next, rootName, SUBJECT, version } from './shared-schemas.ts';

const input = z.strictObject({
  root: rootName,
  path: filePath,
  offset_bytes: z.int().min(0).optional(),
  limit_bytes: z.int().min(1).optional(),
  offset_lines: z.int().optional().describe('From 1; -50: the last 50'),
  limit_lines: z.int().min(1).optional(),
  encoding: z.string().optional().describe('latin1, windows-1252, utf-16le, shift_jis, …'),
});
type Input = z.output<typeof input>;

const output = z.object({
  content: z.string(),
  encoding: z.string(),
  size: z.int().describe('Of the whole file'),
  truncated: z.boolean().describe('There is more after this'),
  lines_total: z.int().optional(),
  first_line: z.int().optional().describe('If offset_lines is negative'),
  binary: z.literal(true).optional(),
  version: version.optional(),
  mime_type: z.string().optional(),
  next,
});

type Output = z.output<typeof output>;

export const readFile = defineTool({
  name: 'read_file',
  description:
    'Read a file, whole or a part by bytes or by lines (not both). A file over the size limit must be read in parts. Bytes that are not UTF-8 come as base64 unless encoding is given, images and audio as such. truncated: there is more.',
  needs: ['read_file'],
  effect: 'read',
  paged: true,
  subject: SUBJECT,
  input,
  output,
  run: async (args, context) => {
    const range = rangeOf(args);
    assertEncoding(args.encoding);
    const part = await partOf(args, range, context);
    const mimeType = range.by === 'whole' && args.encoding === undefined ? mediaTypeOf(part.bytes) : undefined;
    const all =
      mimeType === undefined
        ? contentOf(part, { path: args.path, encoding: args.encoding, isCut: part.capped === true })
        : { content: part.bytes.toString('base64'), encoding: 'base64', bytes: part.bytes, start: 0 };
    const found = fitting(all, range);
    const isTruncated = found !== all;
    if (isTruncated && range.by === 'whole') {
      throw new FileError(
        'too_large',
        { size: part.size, limit: found.bytes.length },
        { path: args.path, root: args.root },
      );
    }
    const { mode, maxChars } = context.results;
    const isWhole = mimeType !== undefined || (mode !== 'text' && maxChars === undefined);
    const view: ReadView = isWhole ? found : viewOf(found, { part, range, form: context.results });
    // Fields are set one by one: conditional spreads took a tenth of a small read.
    const result: Output = {
      content: view.content,
      encoding: found.encoding,
      size: part.size,
      truncated: part.truncated || isTruncated || view.cut === true,
    };
    if (part.linesTotal !== undefined) result.lines_total = part.linesTotal;
    if (part.firstLine !== undefined) result.first_line = part.firstLine;
    if (part.binary) result.binary = true;
    if (part.version !== undefined) result.version = part.version;
    if (mimeType !== undefined) result.mime_type = mimeType;
    if (view.next !== undefined) result.next = view.next;
    return result;
  },
  render: (result, args) => {
    const { content, first_line } = result;
    const { plain, numbered, added } = isNumbered(result, args)
      ? contentJson(content, first_line ?? args.offset_lines ?? 1)
      : unnumbered(content);
    const last = metadata(result);
    const json = concatJson('{"content":"', plain, `",${factsJson(result)}}`);
    // The content block of an image or audio has its content already.
    if (result.mime_type !== undefined) return { result: json, text: last, bytes: last.length };
    return {
      result: json,
      // Only `next` has characters that JSON escapes.
      text: concatJson(numbered, `\\n${result.next === undefined ? last : escapeJson(last)}`),
      bytes: Buffer.byteLength(content) + added + 1 + last.length,
    };
  },
  // In this form, `run` made the text already.
  readerText: (result) => (result.mime_type === undefined ? result.content : metadata(result)),
  summary: (result) => metadata(result),
  media: ({ content, mime_type }): MediaContent | undefined =>
    mime_type === undefined
      ? undefined
      : { type: mime_type.startsWith('image/') ? 'image' : 'audio', mimeType: mime_type, data: content },
});

async function partOf(
  { root: name, path, encoding }: Input,
  range: ReadRange,
  context: CallContext,
): Promise<ReadPart> {
  const { root, agent } = context.resolveRoot(name);
  const utf16 = utf16Order(encoding);
  const cut = encoding === undefined ? 'characters' : 'bytes';
  const options = {
    range,
    cut,
    utf16,
    maxBytes: context.limits.maxFullReadSize,
    lineIndex: context.lineIndex,
  } as const;
  if (agent === undefined) return read(root, root.parse(path), options, context);
  if (utf16 !== undefined && range.by === 'lines') {
    const problem = 'lines of UTF-16 cannot be read from client-side files; read the file whole';
    throw new ToolError('invalid_argument', { problem, argument: 'encoding' }, { path });
  }
  const { bytes } = await agent.read(path);
  return agent.withLocation(path, async () => sliceBytes(bytes, options));
}

/** Truncates a content to what fits into one result. Returns the content itself if all of it does. */
function fitting(found: PartContent, range: ReadRange): PartContent {
  const { content: all, encoding, bytes } = found;
  const isBase64 = encoding === 'base64';
  const text = range.by === 'bytes' || isBase64 ? 'plain' : 'numbered';
  const content = truncateToFit(
    all,
    encoding === 'utf-8' ? { encoding, text, bytes } : { encoding: isBase64 ? 'base64' : 'utf-8', text },
  );
  if (content === all) return found;
  return { ...found, content, bytes: bytes.subarray(0, byteLengthOf(content, encoding)) };
}

function rangeOf(args: Input): ReadRange {
  const bytes = args.offset_bytes !== undefined || args.limit_bytes !== undefined;
  const lines = args.offset_lines !== undefined || args.limit_lines !== undefined;
  if (bytes && lines) {
    const problem =
      'byte and line parameters are mutually exclusive; give offset_bytes/limit_bytes or offset_lines/limit_lines';
    throw new ToolError('invalid_argument', { problem }, { path: args.path });
  }
  if (args.offset_lines === 0) {
    const problem = 'offset_lines must be at least 1, or at most -1 to count from the end, got 0';
    throw new ToolError('invalid_argument', { problem, argument: 'offset_lines' }, { path: args.path });
  }
  if (bytes) return { by: 'bytes', offset: args.offset_bytes ?? 0, limit: args.limit_bytes };
  if (lines) return { by: 'lines', offset: args.offset_lines ?? 1, limit: args.limit_lines };
  return { by: 'whole' };
}

/** Whether the text gets line numbers. A byte range may start within a line, so it gets none. */
function isNumbered({ content, encoding }: Output, args: Input): boolean {
  const byBytes = args.offset_bytes !== undefined || args.limit_bytes !== undefined;
  return !byBytes && encoding !== 'base64' && content !== '';
}

function unnumbered(content: string): ContentJson {
  const plain = plainJson(content);
  return { plain, numbered: plain, added: 0 };
}

function metadata({ encoding, size, truncated, lines_total, binary, mime_type, next }: Output): string {
  const type = mime_type === undefined ? '' : `, ${mime_type}`;
  const total = lines_total === undefined ? '' : `, lines_total: ${lines_total}`;
  const more = truncated ? ', truncated: there is more' : '';
  const rest = next === undefined ? '' : `; next: ${JSON.stringify(next)}`;
  return `[size: ${formatSize(size)}, encoding: ${encoding}${type}${total}${binary ? ', binary' : ''}${more}${rest}]`;
}

/** Serializes all fields except the content. */
function factsJson({
  encoding,
  size,
  truncated,
  lines_total,
  first_line,
  binary,
  version,
  mime_type,
  next,
}: Output): string {
  // No value has characters that JSON escapes, except for those of `next`.
  const total = lines_total === undefined ? '' : `,"lines_total":${lines_total}`;
  const first = first_line === undefined ? '' : `,"first_line":${first_line}`;
  const known = version === undefined ? '' : `,"version":"${version}"`;
  const type = mime_type === undefined ? '' : `,"mime_type":"${mime_type}"`;
  const rest = next === undefined ? '' : `,"next":${JSON.stringify(next)}`;
  const start = `"encoding":"${encoding}","size":${size},"truncated":${truncated}`;
  return `${start}${total}${first}${binary ? ',"binary":true' : ''}${known}${type}${rest}`;
}
