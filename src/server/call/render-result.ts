import { escapeUnprintable } from '../../runtime/printable.ts';
import { ToolError } from '../../tools/errors.ts';
import type { ResultMode } from '../../tools/result-form.ts';
import type { MediaContent, RenderedResult, Tool } from '../../tools/tool.ts';
import { concatJson, type JsonChunks, jsonAndEscaped, jsonByteLength } from '../../wire/json-chunks.ts';
import { escapeJson } from '../../wire/json-escaper.ts';
import { MAX_RESULT_BYTES } from '../../wire/result-size.ts';
import type { Arguments } from './running/call-request.ts';

/** The most bytes that one UTF-16 unit takes in UTF-8. */
const MAX_UNIT_BYTES = 3;

/** The fields of a tool's result. */
export type ResultFields = Readonly<Record<string, unknown>>;

/** A `CallToolResult` as JSON without its closing brace, and the length of its text in bytes. */
export interface RenderedCall {
  readonly json: JsonChunks;
  readonly bytes: number;
}

/** Renders a failure, whose text is for the client's model. */
export function renderFailure(message: string): RenderedCall {
  const text = escapeUnprintable(message);
  const json = `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"isError":true`;
  return { json, bytes: Buffer.byteLength(text) };
}

/** What a result is rendered for. */
interface RenderOptions {
  readonly args: Arguments;
  /** By default `both`. Only a tool with a `readerText` has a choice: the contract of the others fixes their form. */
  readonly mode?: ResultMode | undefined;
}

/** Renders the result of a tool. Raises `result_too_large` for one that exceeds `MAX_RESULT_BYTES`. */
export function renderSuccess(tool: Tool, value: ResultFields, { args, mode = 'both' }: RenderOptions): RenderedCall {
  const rendered =
    tool.readerText === undefined || mode === 'both'
      ? renderBoth(tool, value, args)
      : renderOne(tool, value, { args, mode });
  const { json } = rendered;
  const isSmall = typeof json === 'string' && json.length * MAX_UNIT_BYTES < MAX_RESULT_BYTES;
  const size = isSmall ? 0 : jsonByteLength(json) + 1;
  if (size > MAX_RESULT_BYTES) throw new ToolError('result_too_large', { size, limit: MAX_RESULT_BYTES });
  return rendered;
}

/** Renders structured content, and a text that says the same. */
function renderBoth(tool: Tool, value: ResultFields, args: Arguments): RenderedCall {
  const { text, result, bytes } = tool.render?.(value, args) ?? renderResult(tool, value, args);
  const blocks = contentBlocks(text, tool.media?.(value, args));
  return { json: concatJson(blocks, ',"structuredContent":', result), bytes };
}

/** Renders text alone, or structured content with a text of one line. */
function renderOne(tool: Tool, value: ResultFields, { args, mode }: Required<RenderOptions>): RenderedCall {
  const media = tool.media?.(value, args);
  if (mode === 'text') {
    const text = tool.readerText?.(value, args) ?? '';
    return { json: contentBlocks(escapeJson(text), media), bytes: Buffer.byteLength(text) };
  }
  // A tool whose lists are JSON in this form has a summary: its text for a reader cannot be made of them.
  const line = tool.summary?.(value, args) ?? tool.readerText?.(value, args).split('\n', 1)[0] ?? '';
  const result = tool.render?.(value, args).result ?? jsonAndEscaped(value).json;
  return {
    json: concatJson(contentBlocks(escapeJson(line), media), ',"structuredContent":', result),
    bytes: jsonByteLength(result),
  };
}

/** Renders a text, which is escaped already, after the image or audio that it describes. */
function contentBlocks(escaped: JsonChunks, media: MediaContent | undefined): JsonChunks {
  if (media === undefined) return concatJson('{"content":[{"type":"text","text":"', escaped, '"}]');
  const { type, mimeType, data } = media;
  // Base64 has no characters that JSON escapes.
  const block: JsonChunks = [Buffer.from(`{"content":[{"type":"${type}","data":"${data}","mimeType":"${mimeType}"}`)];
  return concatJson(block, ',{"type":"text","text":"', escaped, '"}]');
}

/** Renders a result whose text is the tool's wording, or else the same JSON as the result. */
function renderResult(tool: Tool, value: ResultFields, args: Arguments): RenderedResult {
  if (tool.text === undefined) {
    const { json, escaped } = jsonAndEscaped(value);
    return { text: escaped, result: json, bytes: jsonByteLength(json) };
  }
  const text = tool.text(value, args);
  return { text: escapeJson(text), result: JSON.stringify(value), bytes: Buffer.byteLength(text) };
}
