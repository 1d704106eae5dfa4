import type { Tool as McpTool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { packageVersion } from '../../config/package-files.ts';
import type { Dialect } from '../../tools/dialect.ts';
import type { Tool } from '../../tools/tool.ts';
import type { ServerDescription } from './server-description.ts';

/** Works out what a server of a dialect says about itself. The build keeps the result, so that a start need not wait for it. */
export function describeServer(dialect: Dialect): ServerDescription {
  return {
    serverInfo: { name: dialect.serverName, version: dialect.serverVersion ?? packageVersion() },
    capabilities: { tools: {}, ...(dialect.takesFiles && { resources: {} }) },
    instructions: dialect.instructions,
    tools: dialect.tools.map((tool) => describeTool(tool, dialect)),
  };
}

/** A tool as `tools/list` shows it. */
function describeTool(tool: Tool, dialect: Dialect): McpTool {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: toJsonSchema(tool.input, 'input'),
    outputSchema: toJsonSchema(tool.output, 'output'),
    annotations: {
      readOnlyHint: tool.effect === 'read',
      destructiveHint: dialect.destructive(tool),
      // Creating what exists, or removing what is gone, changes nothing more; a second write or move may.
      ...((tool.effect === 'create' || tool.effect === 'destroy') && { idempotentHint: true }),
      openWorldHint: false,
    },
  };
}

function toJsonSchema(schema: Tool['input'], io: 'input' | 'output'): McpTool['inputSchema'] {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // Bounds that every integer has, and closed results, tell a model nothing and cost tokens.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (io === 'output') delete jsonSchema.additionalProperties;
    },
  });
  return json as McpTool['inputSchema'];
}
