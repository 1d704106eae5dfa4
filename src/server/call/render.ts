import { ToolError } from '../../tools/errors.ts';
import type { RenderedResult, Tool } from '../../tools/tool.ts';
import { concatJson, type JsonChunks, jsonAndEscaped, jsonByteLength } from '../../wire/json-chunks.ts';
import { escapeJson } from '../../wire/json-string.ts';
import { MAX_RESULT_BYTES } from '../../wire/result-size.ts';

/** Bytes that a UTF-16 unit of a JSON text takes at most in UTF-8. */
const MAX_UNIT_BYTES = 3;

export type Args = Readonly<Record<string, unknown>>;

/** A `CallToolResult` as JSON without its closing brace, and the length of its text in bytes. */
export interface RenderedCall {
  readonly json: JsonChunks;
  readonly bytes: number;
}

export function renderFailure(text: string): RenderedCall {
  const json = `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"isError":true`;
  return { json, bytes: Buffer.byteLength(text) };
}

/** Raises `result_too_large` for a result that no transport carries. */
export function renderSuccess(tool: Tool, value: Args, args: Args): RenderedCall {
  const { text, result, bytes } = tool.render?.(value, args) ?? renderResult(tool, value, args);
  const json = concatJson('{"content":[{"type":"text","text":"', text, '"}],"structuredContent":', result);
  const isSmall = typeof json === 'string' && json.length * MAX_UNIT_BYTES < MAX_RESULT_BYTES;
  const size = isSmall ? 0 : jsonByteLength(json) + 1;
  if (size > MAX_RESULT_BYTES) throw new ToolError('result_too_large', { size, limit: MAX_RESULT_BYTES });
  return { json, bytes };
}

/** The text of a result is what the tool words, else the JSON of the result once more. */
function renderResult(tool: Tool, value: Args, args: Args): RenderedResult {
  if (tool.text === undefined) {
    const { json, escaped } = jsonAndEscaped(value);
    return { text: escaped, result: json, bytes: jsonByteLength(json) };
  }
  const text = tool.text(value, args);
  return { text: escapeJson(text), result: JSON.stringify(value), bytes: Buffer.byteLength(text) };
}
