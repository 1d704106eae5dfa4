import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServerContext } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sample } from '../src/index.ts';
import { ERAS } from './support/connections.ts';
import { type Asked, json, SamplingClient } from './support/sampling-client.ts';
import { startServer, type TestServer } from './support/start-server.ts';
import { tempDir } from './support/temp-dir.ts';

const TOP = fileURLToPath(new URL('..', import.meta.url));
const PAGE = fs.readFileSync(path.join(TOP, 'docs/bridge.md'), 'utf8');

/** Somebody's project that has installed the package, with the examples of the page as its files. */
const project = tempDir();
const file = (name: string) => path.join(project, name);
const run = (name: string, ...args: string[]) =>
  execFileSync(process.execPath, [file(name), ...args], { encoding: 'utf8' });

beforeAll(() => {
  fs.mkdirSync(file('node_modules/@modelcontextprotocol'), { recursive: true });
  fs.symlinkSync(TOP, file('node_modules/ringfence'));
  for (const name of ['zod', '@modelcontextprotocol/server', '@types'])
    fs.symlinkSync(path.join(TOP, 'node_modules', name), file(`node_modules/${name}`));
  for (const [, name = '', code = ''] of PAGE.matchAll(/<!-- example: (\S+) -->\s+```js\n([\s\S]*?)```/g))
    fs.writeFileSync(file(name), code);
});
afterAll(() => fs.rmSync(project, { recursive: true }));

test('the example with a plain function lists and reads what is allowed, and nothing else', () => {
  fs.mkdirSync(file('far/docs'), { recursive: true });
  fs.writeFileSync(file('far/docs/a.md'), 'hello');
  const printed = run('plain.mjs', file('far'));
  expect(printed).toContain('docs/a.md 5');
  expect(printed).toMatch(/security: .*traversal/);
  expect(printed).toMatch(/misses: 1,/);
});

test('the example with several clients keeps them apart', () => {
  const printed = run('partitions.mjs').split('\n');
  expect(printed.slice(0, 2)).toEqual(['for one client only', 'undefined']);
});

describe.each(ERAS)('the example of a server, asked by a %s client', (era) => {
  const agent = new SamplingClient({ era, declares: 'sampling' });
  const contentOf = ({ params }: Asked) => JSON.stringify(params.messages[0]?.content);
  agent.answer((asked) =>
    json(contentOf(asked).includes('gone') ? { error: 'not_found' } : { content: 'one\ntwo\nthree' }),
  );
  const asked = () => agent.asked.map(contentOf);
  let server: TestServer;
  const count = async (name: string) => {
    const { text, isError } = await server.call('count_lines', { path: name });
    return [text, isError];
  };

  beforeAll(async () => {
    server = await startServer({ program: file('server.mjs'), client: agent.client });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('asks once for a file, and never for one that is not allowed', async () => {
    expect(await count('docs/a.md')).toEqual(['3', false]);
    expect(await count('./docs/a.md')).toEqual(['3', false]);
    expect(asked()).toEqual([expect.stringContaining('docs/a.md')]);
    expect(await count('private/a')).toEqual([expect.stringMatching(/not in an allowed folder.*docs, src/), true]);
    expect(await count('docs/gone')).toEqual([expect.stringMatching(/not found/), true]);
    expect(asked()).toHaveLength(2);
  });

  test('answers calls at once', async () => {
    const answers = await Promise.all(['docs/b', 'docs/b', 'docs/c'].map((name) => count(name)));
    expect(answers).toEqual([
      ['3', false],
      ['3', false],
      ['3', false],
    ]);
  });
});

test('what the page says of the classes is there', async () => {
  const library = (await import(path.join(TOP, 'dist/index.js'))) as Record<string, { prototype: object }>;
  const methods = {
    FilesystemBridge: [
      'readFile',
      'readBytes',
      'listDirectory',
      'cached',
      'info',
      'cacheFiles',
      'receiveFile',
      'storeListing',
      'stats',
    ],
    FileCache: ['set', 'get', 'peek', 'has', 'paths', 'delete', 'clear', 'stats'],
  };
  for (const [name, expected] of Object.entries(methods)) {
    for (const method of expected) {
      expect(PAGE).toContain(`\`${method}(`);
      expect(library[name]?.prototype).toHaveProperty(method);
    }
  }
});

test('the one line for clients up to 2025-11-25 is as the page has it, and compiles', async () => {
  const sampleOf = (context: ServerContext): Sample => {
    return ({ tools, ...params }, { signal, timeoutMs }) =>
      context.mcpReq.requestSampling(params, { signal, timeout: timeoutMs });
  };
  expect(PAGE).toContain(
    'sample: ({ tools, ...params }, { signal, timeoutMs }) => context.mcpReq.requestSampling(params, { signal, timeout: timeoutMs })',
  );
  const asked: unknown[] = [];
  const requestSampling = async (...args: unknown[]) => {
    asked.push(...args);
    return { content: 'hi' };
  };
  const { signal } = new AbortController();
  const params = { messages: [], systemPrompt: '', maxTokens: 1, tools: [] };
  const sample = sampleOf({ mcpReq: { requestSampling } } as unknown as ServerContext);
  expect(await sample(params, { signal, timeoutMs: 5 })).toEqual({ content: 'hi' });
  expect(asked).toEqual([
    { messages: [], systemPrompt: '', maxTokens: 1 },
    { signal, timeout: 5 },
  ]);
});
