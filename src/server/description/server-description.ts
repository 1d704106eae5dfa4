import type { Tool as McpTool } from '@modelcontextprotocol/server';
import type { ResultForm } from '../../tools/result-form.ts';

/** What a server answers to `initialize`, `server/discover` and `tools/list`. It can be serialised as JSON. */
export interface ServerDescription {
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly capabilities: {
    readonly tools: object;
    readonly resources?: object;
    readonly completions?: Record<string, never>;
  };
  readonly instructions: string;
  readonly tools: McpTool[];
  /** The names of the tools whose results can be text alone. */
  readonly textTools: readonly string[];
  /** The names of the tools that can lose data, whatever their `destructiveHint` says. */
  readonly destructiveTools: readonly string[];
}

/** How long a client may cache the description, which changes only with a new version of the server. */
export const DESCRIPTION_CACHE = { ttlMs: 300_000, cacheScope: 'private' } as const;

/** The field of `_meta` that tells Claude Code how long a result may be before it is moved out of the model's sight. */
export const MAX_RESULT_SIZE_META = 'anthropic/maxResultSizeChars';
/** The most that Claude Code accepts there. */
export const MAX_RESULT_SIZE_CHARS = 500_000;

/** Returns the tools as `tools/list` shows them to a client that gets results in this form. */
export function toolsFor({ tools, textTools }: ServerDescription, { mode, maxResultChars }: ResultForm): McpTool[] {
  if (mode !== 'text' && maxResultChars === undefined) return tools;
  const inText = new Set(mode === 'text' ? textTools : []);
  return tools.map((tool) => {
    const { outputSchema, _meta, ...rest } = tool;
    if (!textTools.includes(tool.name)) return tool;
    return {
      ...rest,
      ...(outputSchema !== undefined && !inText.has(tool.name) && { outputSchema }),
      ...(_meta !== undefined && {
        _meta: {
          ..._meta,
          [MAX_RESULT_SIZE_META]: Math.min(maxResultChars ?? MAX_RESULT_SIZE_CHARS, MAX_RESULT_SIZE_CHARS),
        },
      }),
    };
  });
}

/**
 * Returns a description in which `destructiveHint` says of every tool whether it can lose data, also where the contract
 * of its dialect fixes something else.
 */
export function withHonestAnnotations(description: ServerDescription): ServerDescription {
  const { tools, destructiveTools } = description;
  const honest = (tool: McpTool): McpTool => ({
    ...tool,
    annotations: { ...tool.annotations, destructiveHint: destructiveTools.includes(tool.name) },
  });
  return { ...description, tools: tools.map(honest) };
}
