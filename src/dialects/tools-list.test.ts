import { describe, expect, test } from 'vitest';
import { describeServer } from '../server/description/describe-server.ts';
import { classic } from './classic/index.ts';
import { guide } from './guide/index.ts';
import { memory } from './memory/index.ts';
import { workspace } from './workspace/index.ts';

describe.each([workspace, memory, classic, guide])('tools/list of $name', (dialect) => {
  const tools = describeServer(dialect).tools;

  test.each(tools)('$name', (tool) => {
    expect(tool).toMatchSnapshot();
  });

  test('names are unique', () => {
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
  });

  test('every tool says what it takes and what it answers', () => {
    for (const { name, description, inputSchema, outputSchema } of tools) {
      expect([name, inputSchema.type, outputSchema?.type]).toEqual([name, 'object', 'object']);
      expect([name, Object.keys(outputSchema?.properties ?? {}).length > 0]).toEqual([name, true]);
      expect([name, (description ?? '').length > 20]).toEqual([name, true]);
    }
  });
});

test.each([workspace, memory, classic, guide])(
  'only names of roots and paths go into the log of $name',
  ({ tools }) => {
    const logged = new Set(tools.flatMap(({ subject }) => subject));
    expect([...logged].filter((name) => !/(?:^|_)(?:root|path)$|^source$|^destination$/.test(name))).toEqual([]);
  },
);

test('what only adds destroys nothing, but adds again when repeated', () => {
  const insert = describeServer(memory).tools.find(({ name }) => name === 'insert');
  expect(insert?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: false });
  expect(insert?.annotations).not.toHaveProperty('idempotentHint', true);
});

test('the list of the workspace tools is short enough to be read with every task', () => {
  expect(Buffer.byteLength(JSON.stringify({ tools: describeServer(workspace).tools }))).toBeLessThan(16_000);
});
