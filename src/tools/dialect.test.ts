import { expect, test } from 'vitest';
import { FenceError } from '../fence/index.ts';
import { type Dialect, mergeDialects } from './dialect.ts';
import type { Tool } from './tool.ts';

function dialect(name: string, tool: string): Dialect {
  return {
    name,
    serverName: `server of ${name}`,
    instructions: `${name}.`,
    tools: [{ name: tool } as Tool],
    destructive: () => name === 'one',
    formatError: ({ code }) => `${name}: ${code}`,
    formatProblems: (problems) => `${name}: ${problems.length}`,
  };
}

test('each tool of merged dialects keeps its own contract', () => {
  const both = mergeDialects(dialect('one', 'read'), dialect('two', 'take'));
  expect(both).toMatchObject({ name: 'one', serverName: 'server of one', instructions: 'one. two.' });
  const words = both.tools.map((tool) => [
    tool.name,
    both.destructive(tool),
    both.formatError(new FenceError('not_found', {}), { tool, args: {} }),
    both.formatProblems([], { tool, args: {} }),
  ]);
  expect(words).toEqual([
    ['read', true, 'one: not_found', 'one: 0'],
    ['take', false, 'two: not_found', 'two: 0'],
  ]);
});
