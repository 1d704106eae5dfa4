import type { RenderedResult, Tool } from '../../../tools/tool.ts';
import { concatJson, type JsonChunks, jsonAndEscaped, jsonByteLength } from '../../../wire/json.ts';
import { escapeJson } from '../../../wire/json-string.ts';
import { MAX_RESULT_BYTES } from '../../../wire/result-size.ts';
import { type Args, type Renderer, refuseTooLarge } from '../../call/render.ts';

/** What a character of a JSON text takes at most. */
const WORST_CHARACTER = 3;

/** As JSON without its closing brace, since what comes last differs between the revisions of the protocol. */
export const asJson: Renderer<JsonChunks> = {
  failure: (text) => ({
    answer: `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"isError":true`,
    bytes: Buffer.byteLength(text),
  }),
  success: (tool, value, args) => {
    const { text, result, bytes } = tool.write?.(value, args) ?? written(tool, value, args);
    const answer = concatJson('{"content":[{"type":"text","text":"', text, '"}],"structuredContent":', result);
    const small = typeof answer === 'string' && answer.length * WORST_CHARACTER < MAX_RESULT_BYTES;
    if (!small) refuseTooLarge(jsonByteLength(answer) + 1);
    return { answer, bytes };
  },
};

function written(tool: Tool, value: Args, args: Args): RenderedResult {
  if (tool.text === undefined) {
    const { json, escaped: quoted } = jsonAndEscaped(value);
    return { text: quoted, result: json, bytes: jsonByteLength(json) };
  }
  const text = tool.text(value, args);
  return { text: escapeJson(text), result: JSON.stringify(value), bytes: Buffer.byteLength(text) };
}
