import type { CallToolResult } from '@modelcontextprotocol/server';
import { ToolError } from '../../tools/errors.ts';
import type { Tool } from '../../tools/tool.ts';
import { MAX_RESULT_BYTES } from '../../wire/result-size.ts';

/** The most that JSON escaping makes of one byte (`\u0000`), twice for JSON inside JSON. */
const WORST_ESCAPING = 7;

export type Args = Readonly<Record<string, unknown>>;

/** An answer in some form, and how long its text is. */
export interface RenderedAnswer<T> {
  readonly answer: T;
  readonly bytes: number;
}

/** The form in which calls are answered. */
export interface Renderer<T> {
  failure(text: string): RenderedAnswer<T>;
  /** Raises `result_too_large`. */
  success(tool: Tool, value: Args, args: Args): RenderedAnswer<T>;
}

/** As the SDK takes it. */
export const asResult: Renderer<CallToolResult> = {
  failure: (text) => ({
    answer: { isError: true, content: [{ type: 'text', text }] },
    bytes: Buffer.byteLength(text),
  }),
  success: (tool, value, args) => {
    const text = tool.text === undefined ? JSON.stringify(value) : tool.text(value, args);
    // A result that is its own text may have lists in it that are JSON already.
    const result = tool.text === undefined ? JSON.parse(text) : value;
    const answer: CallToolResult = { content: [{ type: 'text', text }], structuredContent: result };
    const bytes = Buffer.byteLength(text);
    // Weighed only where it could matter. A text says at least as much as what it stands for, or both are small.
    if (bytes * 2 * WORST_ESCAPING > MAX_RESULT_BYTES) refuseTooLarge(Buffer.byteLength(JSON.stringify(answer)));
    return { answer, bytes };
  },
};

export function refuseTooLarge(size: number): void {
  if (size > MAX_RESULT_BYTES) throw new ToolError('result_too_large', { size, limit: MAX_RESULT_BYTES });
}
