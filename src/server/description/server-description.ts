import type { Tool as McpTool } from '@modelcontextprotocol/server';

/** What a server answers to `initialize`, `server/discover` and `tools/list`. It can be serialised as JSON. */
export interface ServerDescription {
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly capabilities: { readonly tools: object; readonly resources?: object };
  readonly instructions: string;
  readonly tools: McpTool[];
}

/** How long a client may cache the description, which changes only with a new version of the server. */
export const DESCRIPTION_CACHE = { ttlMs: 300_000, cacheScope: 'private' } as const;
