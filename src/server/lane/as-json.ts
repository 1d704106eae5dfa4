import { inQuotes, type Json, joined, jsonBytes, jsonLength, jsonOf } from '../../tools/json-pieces.ts';
import { MAX_RESULT_BYTES } from '../../tools/result-size.ts';
import type { Tool, Written } from '../../tools/tool.ts';
import { type Args, type Renderer, refuseTooLarge } from '../render.ts';

/** What a character of a JSON text takes at most. */
const WORST_CHARACTER = 3;

/** As JSON without its closing brace, since what comes last differs between the revisions of the protocol. */
export const asJson: Renderer<Json> = {
  failure: (text) => ({
    answer: `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"isError":true`,
    bytes: Buffer.byteLength(text),
  }),
  success: (tool, value, args) => {
    const { text, result, bytes } = tool.write?.(value, args) ?? written(tool, value, args);
    const answer = joined('{"content":[{"type":"text","text":"', text, '"}],"structuredContent":', result);
    if (jsonLength(answer) * WORST_CHARACTER >= MAX_RESULT_BYTES) refuseTooLarge(jsonBytes(answer) + 1);
    return { answer, bytes };
  },
};

function written(tool: Tool, value: Args, args: Args): Written {
  const result = jsonOf(value);
  const text = tool.text === undefined ? result : tool.text(value, args);
  return { text: inQuotes(text), result, bytes: jsonBytes(text) };
}
