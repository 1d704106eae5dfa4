import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CONNECTIONS } from '../support/connections.ts';
import { json, SamplingClient } from '../support/sampling-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const TOKEN = 'token-of-the-agent-0123456789abcdef';
const ALLOWED = ['list_folder', 'read_file', 'stat_file', 'hash_file', 'copy'];

describe.each(CONNECTIONS)('several agent roots, $transport, $era', ({ transport, era }) => {
  const base = tempDir();
  fs.mkdirSync(path.join(base, 'workspace'));
  const agent = new SamplingClient({ era, dialect: 'workspace' });
  let server: TestServer<'workspace'>;

  beforeAll(async () => {
    server = await startServer({
      transport,
      era,
      client: agent.client,
      token: TOKEN,
      env: { AGENT_TOKEN: TOKEN },
      roots: [
        { name: 'workspace', path: path.join(base, 'workspace') },
        { name: 'laptop', agent: { allowed_paths: ['docs/'], timeout: 10 }, allowed_tools: ALLOWED },
        { name: 'desktop', agent: { allowed_paths: ['src/'], timeout: 10, cache_bytes: 100 }, allowed_tools: ALLOWED },
        { name: 'hidden', agent: { allowed_paths: ['docs/'] }, allowed_tools: ALLOWED },
      ],
      config: {
        ...(transport === 'http' && {
          auth: {
            tokens: [{ name: 'agent', token_env: 'AGENT_TOKEN', roots: ['workspace', 'laptop', 'desktop'] }],
          },
        }),
      },
    });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    fs.rmSync(base, { recursive: true });
  });

  const cacheFile = (root: string | undefined, file: string, content: string) => ({
    ...(root !== undefined && { root }),
    path: file,
    content,
  });

  // biome-ignore lint/suspicious/noExplicitAny: the results of guide tools are looked into
  const failsIn = async (tool: string, args: Record<string, unknown>): Promise<any> => {
    const result = await server.call(tool, args);
    assert(result.isError === true, result.text);
    return JSON.parse(result.text);
  };

  test('each takes files under its own name, policy and cache', async () => {
    await server.ok('guide_cache_file', cacheFile('laptop', 'docs/a.md', 'of the laptop\n'));
    await server.ok('guide_cache_file', cacheFile('desktop', 'src/a.ts', 'of the desktop\n'));
    expect(await server.ok('read_file', { root: 'laptop', path: 'docs/a.md' })).toMatchObject({
      content: 'of the laptop\n',
    });
    expect(await server.ok('read_file', { root: 'desktop', path: 'src/a.ts' })).toMatchObject({
      content: 'of the desktop\n',
    });
    const refused = await failsIn('guide_cache_file', cacheFile('laptop', 'src/a.ts', 'x'));
    expect(refused).toMatchObject({ error_type: 'security', stats: { entries: 1 } });
    const large = await failsIn('guide_cache_file', cacheFile('desktop', 'src/large.ts', 'x'.repeat(101)));
    expect(large).toMatchObject({ error_type: 'validation', error: expect.stringContaining('Too large') });
  });

  test('what is cached of each can be read as a resource', async () => {
    const { client } = server;
    await server.ok('guide_cache_file', cacheFile('desktop', 'src/r.ts', 'resource\n'));
    const read = await client.readResource({ uri: 'ringfence://desktop/src/r.ts' });
    expect(read.contents).toMatchObject([{ mimeType: 'text/x-typescript', text: 'resource\n' }]);
    await expect(client.readResource({ uri: 'ringfence://desktop/src/never.ts' })).rejects.toThrow(/not found/i);
    await expect(client.readResource({ uri: 'ringfence://desktop/docs/x' })).rejects.toThrow(/allowed folder/);
    const { resources } = await client.listResources();
    const uris = resources.map(({ uri }) => uri);
    expect(uris).toEqual(expect.arrayContaining(['agent://docs/a.md', 'agent://src/r.ts?root=desktop']));
    const listed = await client.readResource({ uri: 'agent://src/r.ts?root=desktop' });
    expect(listed.contents).toMatchObject([{ text: 'resource\n' }]);
    await expect(client.readResource({ uri: 'agent://src/r.ts?root=hidden' })).rejects.toThrow(/not found/i);
    const { completion } = await client.complete({
      ref: { type: 'ref/resource', uri: 'ringfence://{root}/{+path}' },
      argument: { name: 'path', value: 'src/r' },
      context: { arguments: { root: 'desktop' } },
    });
    expect(completion.values).toEqual(['src/r.ts']);
  });

  test('a listing and a file in chunks go to the root that is named', async () => {
    const entries = [{ name: 'b.ts', type: 'file', size: 2 }];
    await server.ok('guide_list_directory', { root: 'desktop', path: 'src', entries });
    expect((await server.ok('list_folder', { root: 'desktop', path: 'src' })).entries).toMatchObject([
      { name: 'b.ts' },
    ]);
    const chunk = (index: number) => ({
      root: 'laptop',
      path: 'docs/c',
      content: `${index}`,
      chunk: { index, total: 2 },
    });
    await server.ok('guide_read_file', chunk(0));
    await server.ok('guide_read_file', chunk(1));
    expect(await server.ok('read_file', { root: 'laptop', path: 'docs/c' })).toMatchObject({ content: '01' });
  });

  test('without a name, or with that of no such root, the call is refused with the names', async () => {
    const missing = await failsIn('guide_cache_file', cacheFile(undefined, 'docs/a.md', 'x'));
    expect(missing).toMatchObject({ error_type: 'validation', error: expect.stringContaining('laptop, desktop') });
    for (const root of ['workspace', 'none']) {
      const unknown = await failsIn('guide_cache_file', cacheFile(root, 'docs/a.md', 'x'));
      expect(unknown).toMatchObject({ error_type: 'validation', error: expect.stringContaining('laptop, desktop') });
      if (transport === 'http') expect(unknown.error).not.toContain('hidden');
    }
  });

  test('the client is told which root it is asked about', async () => {
    agent.answer(json({ content: 'asked for\n' }));
    const { asked, result } = await agent.askedBy(() =>
      server.ok('read_file', { root: 'desktop', path: 'src/new.ts' }),
    );
    expect(result).toMatchObject({ content: 'asked for\n' });
    expect(asked[0]?.prompt).toContain('"root": "desktop"');
  });
});
