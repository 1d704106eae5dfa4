import type { Tool as McpTool } from '@modelcontextprotocol/server';
import { packageVersion } from '../config/index.ts';
import type { Dialect } from '../tools/dialect.ts';
import { describeTools } from './tool-list.ts';

/** What a server says about itself before any call. All of it is JSON. */
export interface Introduction {
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly capabilities: { readonly tools: object; readonly resources?: object };
  readonly instructions: string;
  readonly tools: McpTool[];
}

/** How long a client may keep what it was told, which changes only with a new version of the server. */
export const INTRODUCTION_CACHE = { ttlMs: 300_000, cacheScope: 'private' } as const;

export function introduce(dialect: Dialect): Introduction {
  return {
    serverInfo: { name: dialect.serverName, version: dialect.serverVersion ?? packageVersion() },
    capabilities: { tools: {}, ...(dialect.takesFiles && { resources: {} }) },
    instructions: dialect.instructions,
    tools: describeTools(dialect),
  };
}
