import { describe, expect, test } from 'vitest';
import { describeServer } from '../server/description/describe-server.ts';
import { classic } from './classic/index.ts';
import { guide } from './guide/index.ts';
import { memory } from './memory/index.ts';
import { workspace } from './workspace/index.ts';
import { workspaceWithHistory } from './workspace/with-history.ts';

describe.each([workspace, memory, classic, guide])('tools/list of $name', (dialect) => {
  const tools = describeServer(dialect).tools;

  test.each(tools)('$name', (tool) => {
    expect(tool).toMatchSnapshot();
  });

  test('names are unique', () => {
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
  });

  test('every tool has an input and an output schema', () => {
    for (const { name, description, inputSchema, outputSchema } of tools) {
      expect([name, inputSchema.type, outputSchema?.type]).toEqual([name, 'object', 'object']);
      expect([name, Object.keys(outputSchema?.properties ?? {}).length > 0]).toEqual([name, true]);
      expect([name, (description ?? '').length > 20]).toEqual([name, true]);
    }
  });
});

test.each([workspaceWithHistory, memory, classic, guide])(
  'only names of roots and paths go into the log of $name',
  ({ tools }) => {
    const logged = new Set(tools.flatMap(({ subject }) => subject));
    expect([...logged].filter((name) => !/(?:^|_)(?:root|path)$|^source$|^destination$/.test(name))).toEqual([]);
  },
);

test('every argument of guide has a description', () => {
  const without: string[] = [];
  const visit = (where: string, node: Record<string, unknown>): void => {
    for (const [name, property] of Object.entries((node.properties ?? {}) as Record<string, Record<string, unknown>>)) {
      if (property.description === undefined) without.push(`${where}.${name}`);
      visit(`${where}.${name}`, property);
    }
    if (node.items !== undefined) visit(`${where}[]`, node.items as Record<string, unknown>);
    for (const definition of Object.values((node.$defs ?? {}) as Record<string, Record<string, unknown>>)) {
      visit(`${where}{}`, definition);
    }
  };
  for (const { name, inputSchema } of describeServer(guide).tools) visit(name, inputSchema);
  expect(without).toEqual([]);
});

test('a tool that adds is neither destructive nor idempotent', () => {
  const insert = describeServer(memory).tools.find(({ name }) => name === 'insert');
  expect(insert?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: false });
  expect(insert?.annotations).not.toHaveProperty('idempotentHint', true);
});

test.each([workspace, workspaceWithHistory])(
  'the tools/list of workspace stays within its size limit, for $tools.length tools',
  (dialect) => {
    expect(Buffer.byteLength(JSON.stringify({ tools: describeServer(dialect).tools }))).toBeLessThan(18_000);
  },
);

describe('with history', () => {
  const plain = describeServer(workspace).tools;
  const tools = describeServer(workspaceWithHistory).tools;

  test.each(tools.slice(plain.length))('$name', (tool) => {
    expect(tool).toMatchSnapshot();
  });

  test('a tool that changes files names the change in its result, and nothing else differs', () => {
    for (const [at, tool] of plain.entries()) {
      const properties = tool.outputSchema?.properties as object | undefined;
      const change = tool.annotations?.readOnlyHint ? {} : { change: { type: 'string' } };
      expect(tools[at]).toEqual({
        ...tool,
        outputSchema: { ...tool.outputSchema, properties: { ...properties, ...change } },
      });
    }
  });
});

test('every tool of workspace has a text for clients that show the model nothing but structured content', () => {
  expect(workspaceWithHistory.tools.filter(({ readerText }) => readerText === undefined)).toEqual([]);
});
