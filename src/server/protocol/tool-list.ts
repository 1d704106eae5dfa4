import type { Tool as McpTool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Dialect } from '../../tools/dialect.ts';
import type { Tool } from '../../tools/tool.ts';

/** A dialect's tools as `tools/list` answers them. Made once: schemas do not change while a server runs. */
export function describeTools(dialect: Dialect): McpTool[] {
  return dialect.tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: toJsonSchema(tool.input, 'input'),
    outputSchema: toJsonSchema(tool.output, 'output'),
    annotations: {
      readOnlyHint: tool.effect === 'read',
      destructiveHint: dialect.destructive(tool),
      // Making what is there, or removing what is gone, changes nothing more; a second write or move may.
      ...((tool.effect === 'create' || tool.effect === 'destroy') && { idempotentHint: true }),
      openWorldHint: false,
    },
  }));
}

function toJsonSchema(schema: Tool['input'], io: 'input' | 'output'): McpTool['inputSchema'] {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // Bounds that every integer has anyway, and closed results, would only cost a model's attention.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (io === 'output') delete jsonSchema.additionalProperties;
    },
  });
  return json as McpTool['inputSchema'];
}
