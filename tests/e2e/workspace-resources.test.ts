import { createHash } from 'node:crypto';
import fs from 'node:fs';
import type { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { CONNECTIONS } from '../support/connections.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { inWorkspace, type Workspace } from '../support/workspace.ts';

const TEMPLATE = 'ringfence://{root}/{+path}';
const PNG = Buffer.from('89504e470d0a1a0a0000', 'hex');

const ROOTS = { workspace: ['*'], 'two words': ['read_file'], listed: ['list_folder'] };

inWorkspace({ connections: CONNECTIONS, roots: ROOTS, config: { max_full_read_size: 2_000 } }, (w) => {
  const client = (): Client => w.server.client;
  const read = async (uri: string) => (await client().readResource({ uri })).contents[0];
  const failure = async (uri: string) => {
    const thrown = await client()
      .readResource({ uri })
      .then(
        () => undefined,
        (error: unknown) => error as { code: number; message: string; data?: unknown },
      );
    expect(thrown).toBeDefined();
    expect(`${thrown?.message}${JSON.stringify(thrown?.data)}`).not.toContain(w.base);
    return { code: thrown?.code, message: thrown?.message ?? '' };
  };
  const complete = async (name: string, value: string, root?: string) => {
    const { completion } = await client().complete({
      ref: { type: 'ref/resource', uri: TEMPLATE },
      argument: { name, value },
      ...(root !== undefined && { context: { arguments: { root } } }),
    });
    return completion;
  };

  test('the server offers resources, a template and completions', async () => {
    expect(client().getServerCapabilities()).toMatchObject({ resources: {}, completions: {} });
    const { resourceTemplates } = await client().listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: TEMPLATE }]);
  });

  test('a file is read as text or as a blob, with a type by its name', async () => {
    w.file('src/a b#ü.md', '# Hällo\r\n');
    w.file('logo.png', PNG);
    w.file('data', Buffer.of(0xff, 1));
    w.file('plain', 'text');
    w.file('x.txt', 'other root', 'two words');
    w.link('../plain', 'src/link');
    const cases: [string, object][] = [
      ['ringfence://workspace/src/a%20b%23%C3%BC.md', { mimeType: 'text/markdown', text: '# Hällo\r\n' }],
      ['ringfence://workspace/src/a b#ü.md', { mimeType: 'text/markdown', text: '# Hällo\r\n' }],
      ['ringfence://workspace/logo.png', { mimeType: 'image/png', blob: PNG.toString('base64') }],
      ['ringfence://workspace/data', { mimeType: 'application/octet-stream', blob: '/wE=' }],
      ['ringfence://workspace/plain', { mimeType: 'text/plain', text: 'text' }],
      ['ringfence://workspace/src/link', { mimeType: 'text/plain', text: 'text' }],
      ['ringfence://two%20words/x.txt', { mimeType: 'text/plain', text: 'other root' }],
    ];
    for (const [uri, expected] of cases) expect(await read(uri)).toEqual({ uri, ...expected });
  });

  test('what there is not is not found; what may not be read says why', async () => {
    w.file('large', 'x'.repeat(2_001));
    w.file('x', 'x', 'listed');
    w.link('../outside/f', 'out');
    w.folder('d');
    // The SDK answers -32602 with the URI as data, as 2026-07-28 demands, in both eras.
    for (const uri of ['workspace/none', 'workspace/%ff', 'unknown/x', 'workspace/d/none/x']) {
      expect(await failure(`ringfence://${uri}`)).toMatchObject({ code: -32602, message: /not found/i });
    }
    expect(await failure('file:///etc/passwd')).toMatchObject({ code: -32602 });
    const refused: [string, RegExp][] = [
      ['listed/x', /tool read_file not allowed on root listed/],
      ['workspace/out', /outside root boundary/],
      ['workspace/../x', /outside root boundary/],
      ['workspace/d', /is a directory/],
      ['workspace/', /is a directory/],
      ['workspace/large', /file too large.*limit: 2.0KB/],
      ['workspace/a%00b', /null byte/],
    ];
    for (const [uri, message] of refused) {
      expect([uri, await failure(`ringfence://${uri}`)]).toEqual([
        uri,
        { code: -32602, message: expect.stringMatching(message) },
      ]);
    }
  });

  test('the files at the top of each root that allows it are listed in pages', async () => {
    const names = Array.from({ length: 1_200 }, (_, i) => `f${String(i).padStart(4, '0')}.ts`);
    for (const name of names) w.file(name, 'abc');
    w.file('.hidden', '');
    w.file('d/inner', '');
    w.link('.hidden', 'link');
    w.file('unlisted', '', 'two words');
    w.file('unreadable', '', 'listed');
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      // `listResources` would fetch all pages at once.
      const page = await client().request({ method: 'resources/list', params: cursor === undefined ? {} : { cursor } });
      expect(page.resources.length).toBeLessThanOrEqual(500);
      seen.push(...page.resources.map(({ name }) => name));
      w.file('a-later', '');
      cursor = page.nextCursor;
      if (page.resources[1]?.name === 'f0000.ts') {
        expect(page.resources[1]).toEqual({
          uri: 'ringfence://workspace/f0000.ts',
          name: 'f0000.ts',
          title: 'workspace/f0000.ts',
          mimeType: 'text/x-typescript',
          size: 3,
        });
      }
    } while (cursor !== undefined);
    expect(seen).toEqual(['.hidden', ...names]);
    expect((await client().listResources()).resources).toHaveLength(1_202);
    await expect(client().listResources({ cursor: 'nonsense' })).rejects.toMatchObject({ code: -32602 });
  });

  test('root and path are completed', async () => {
    for (const name of ['src/main.ts', 'src/map.ts', 'src/mod/x', 'src/other', 'top']) w.file(name);
    expect((await complete('root', '')).values).toEqual(['workspace', 'two words']);
    expect((await complete('root', 'w')).values).toEqual(['workspace']);
    expect((await complete('path', '', 'workspace')).values).toEqual(['src/', 'top']);
    expect(await complete('path', 'src/m', 'workspace')).toEqual({
      values: ['src/main.ts', 'src/map.ts', 'src/mod/'],
      total: 3,
      hasMore: false,
    });
    for (let i = 0; i < 150; i += 1) w.file(`many/${i}`);
    const many = await complete('path', 'many/', 'workspace');
    expect([many.values.length, many.total, many.hasMore]).toEqual([100, 150, true]);
    for (const [value, root] of [
      ['../', 'workspace'],
      ['none/', 'workspace'],
      ['', 'listed'],
      ['', 'two words'],
      ['', 'unknown'],
    ]) {
      expect((await complete('path', value ?? '', root)).values).toEqual([]);
    }
  });

  test('each read is one line in the log', async () => {
    w.file('logged', 'abcd');
    await read('ringfence://workspace/logged');
    await failure('ringfence://workspace/gone');
    const lines = await linesOf(w, 'gone');
    expect(lines.filter(({ path }) => path === 'logged')).toMatchObject([
      { tool: 'resources/read', root: 'workspace', outcome: 'success', response_bytes: 4 },
    ]);
    expect(lines.filter(({ path }) => path === 'gone')).toMatchObject([{ outcome: 'error', code: 'not_found' }]);
  });
});

async function linesOf(w: Workspace, path: string) {
  await expect.poll(() => w.server.logs().some((line) => line.path === path)).toBe(true);
  return w.server.logs();
}

test('a token sees the files of its own roots only', async () => {
  const base = tempDir();
  for (const name of ['mine', 'other']) {
    fs.mkdirSync(`${base}/${name}`);
    fs.writeFileSync(`${base}/${name}/f.txt`, name);
  }
  const token = 'token-of-ada-0123456789';
  const sha256 = createHash('sha256').update(token).digest('hex');
  await using server = await startServer({
    roots: [
      { name: 'mine', path: `${base}/mine` },
      { name: 'other', path: `${base}/other` },
    ],
    config: { auth: { tokens: [{ name: 'ada', sha256, roots: ['mine'] }] } },
    token,
  });
  const { client } = server;
  expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['ringfence://mine/f.txt']);
  expect((await client.readResource({ uri: 'ringfence://mine/f.txt' })).contents).toMatchObject([{ text: 'mine' }]);
  await expect(client.readResource({ uri: 'ringfence://other/f.txt' })).rejects.toThrow(/not found/i);
  fs.rmSync(base, { recursive: true });
});
