import { expect, test } from 'vitest';
import { startServer } from '../support/start-server.ts';

const tools = await listed();
/** The tools as `tools/list` answers them, by name. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into schemas whose shape is what they check
async function listed(): Promise<Record<string, any>> {
  await using server = await startServer({ dialect: 'classic' });
  const { tools } = await server.client.listTools();
  return Object.fromEntries(tools.map((tool) => [tool.name, tool]));
}

const STRING = { type: 'string' };

/** The parameters of the contract, without their descriptions. */
const PARAMETERS = {
  list: {
    path: STRING,
    pattern: { type: 'string', default: '*' },
    recursive: { type: 'boolean', default: false },
    include_hidden: { type: 'boolean', default: false },
    metadata: { type: 'boolean', default: true },
  },
  read: {
    path: STRING,
    encoding: { type: 'string', enum: ['utf8', 'base64', 'binary'], default: 'utf8' },
    start_line: { type: 'integer' },
    end_line: { type: 'integer' },
    max_size: { type: 'integer', default: 1048576 },
  },
  write: {
    path: STRING,
    content: STRING,
    encoding: { type: 'string', enum: ['utf8', 'base64'], default: 'utf8' },
    mode: { type: 'string', enum: ['create', 'overwrite', 'append', 'create_new'], default: 'overwrite' },
    make_dirs: { type: 'boolean', default: false },
  },
  mkdir: { path: STRING, recursive: { type: 'boolean', default: true } },
  delete: {
    path: STRING,
    recursive: { type: 'boolean', default: false },
    force: { type: 'boolean', default: false },
  },
  copy: {
    source: STRING,
    destination: STRING,
    overwrite: { type: 'boolean', default: false },
    recursive: { type: 'boolean', default: true },
  },
  move: { source: STRING, destination: STRING, overwrite: { type: 'boolean', default: false } },
  info: { path: STRING },
  search: {
    root_path: STRING,
    pattern: STRING,
    regex: { type: 'boolean', default: false },
    file_pattern: { type: 'string', default: '*' },
    recursive: { type: 'boolean', default: true },
    case_sensitive: { type: 'boolean', default: false },
    max_results: { type: 'integer', default: 100 },
    max_file_size: { type: 'integer', default: 10485760 },
    context_lines: { type: 'integer', default: 0 },
  },
};

const REQUIRED: Record<string, string[]> = {
  write: ['path', 'content'],
  copy: ['source', 'destination'],
  move: ['source', 'destination'],
  search: ['root_path', 'pattern'],
};

test('filesystem-server/tools: the nine tools, in order', () => {
  expect(Object.keys(tools)).toEqual(Object.keys(PARAMETERS));
});

test.each(Object.entries(PARAMETERS))('filesystem-server/%s: parameters, types, defaults', (name, parameters) => {
  const { inputSchema, outputSchema, description } = tools[name];
  expect(Object.keys(inputSchema.properties)).toEqual(Object.keys(parameters));
  expect(inputSchema.properties).toMatchObject(parameters);
  expect(inputSchema.required).toEqual(REQUIRED[name] ?? ['path']);
  expect(inputSchema.additionalProperties).toBe(false);
  expect(outputSchema.type).toBe('object');
  expect(description.length).toBeGreaterThan(50);
});

test('filesystem-server/tools: annotations are true to what a tool does', () => {
  const hints = Object.entries(tools).map(([name, { annotations }]) => [
    name,
    annotations.readOnlyHint,
    annotations.destructiveHint,
  ]);
  expect(hints).toEqual([
    ['list', true, false],
    ['read', true, false],
    ['write', false, true],
    ['mkdir', false, false],
    ['delete', false, true],
    ['copy', false, true],
    ['move', false, true],
    ['info', true, false],
    ['search', true, false],
  ]);
});
