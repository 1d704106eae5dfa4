import type { Tool as McpTool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { packageVersion } from '../../config/program/package-files.ts';
import type { Dialect } from '../../tools/dialect.ts';
import type { Tool } from '../../tools/tool.ts';
import { MAX_RESULT_SIZE_CHARS, MAX_RESULT_SIZE_META, type ServerDescription } from './server-description.ts';

/**
 * Returns the description of a server in one dialect. The build stores it as a file, because making it would delay
 * every start.
 */
export function describeServer(dialect: Dialect): ServerDescription {
  return {
    serverInfo: { name: dialect.serverName, version: dialect.serverVersion ?? packageVersion() },
    capabilities: {
      tools: {},
      ...((dialect.takesFiles || dialect.showsFiles) && { resources: {} }),
      ...(dialect.showsFiles && { completions: {} }),
    },
    instructions: dialect.instructions,
    tools: dialect.tools.map((tool) => describeTool(tool, dialect)),
    textTools: dialect.tools.flatMap(({ name, readerText }) => (readerText === undefined ? [] : [name])),
    destructiveTools: dialect.tools.filter(losesData).map(({ name }) => name),
  };
}

function losesData({ effect }: Tool): boolean {
  return effect === 'change' || effect === 'destroy';
}

/** Returns a tool as `tools/list` shows it. */
function describeTool(tool: Tool, dialect: Dialect): McpTool {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: toJsonSchema(tool.input, 'input', dialect),
    outputSchema: toJsonSchema(tool.output, 'output', dialect),
    annotations: {
      readOnlyHint: tool.effect === 'read',
      destructiveHint: dialect.destructive(tool),
      // Repeating a creation or a removal changes nothing; repeating a write or a move may.
      ...((tool.effect === 'create' || tool.effect === 'destroy') && { idempotentHint: true }),
      openWorldHint: false,
    },
    ...(tool.paged && { _meta: { [MAX_RESULT_SIZE_META]: MAX_RESULT_SIZE_CHARS } }),
  };
}

function toJsonSchema(schema: Tool['input'], io: 'input' | 'output', dialect: Dialect): McpTool['inputSchema'] {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // The bounds of safe integers and `additionalProperties` of a result are of no use to a model, and cost tokens.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (io === 'output') delete jsonSchema.additionalProperties;
      if (dialect.terseSchemas) omitObvious(jsonSchema, io);
    },
  });
  return json as McpTool['inputSchema'];
}

/**
 * Leaves out of a schema what a model does without: large limits, defaults that go without saying, and that
 * unknown arguments are refused, which the error says better.
 */
function omitObvious(schema: z.core.JSONSchema.BaseSchema, io: 'input' | 'output'): void {
  delete schema.additionalProperties;
  if ((schema.maximum ?? 0) > MAX_TOLD) delete schema.maximum;
  if (schema.default === false || schema.default === 0) delete schema.default;
  if (schema.properties !== undefined && Object.keys(schema.properties).length === 0) delete schema.properties;
  if (io === 'output') delete schema.required;
}

/** Larger limits are not told to models. */
const MAX_TOLD = 10_000;
