import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { afterAll, describe, expect, test } from 'vitest';
import { CONNECTIONS, type Connection } from '../support/connections.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { newClient } from '../support/tool-client.ts';

const dir = tempDir();
fs.writeFileSync(path.join(dir, 'a.txt'), 'one\ntwo\n');
fs.symlinkSync('missing', path.join(dir, 'broken'));
afterAll(() => fs.rmSync(dir, { recursive: true }));

const HASHED = { root: 'w', path: 'a.txt', algorithm: 'sha256' };

/** Starts a server on the folder, with a client that declares this name. */
function serve({ transport, era }: Connection, name: string, config: Readonly<Record<string, unknown>> = {}) {
  return startServer({ transport, roots: [{ name: 'w', path: dir }], config, client: newClient(era, {}, name) });
}

describe.each(CONNECTIONS)('$transport, $era', (connection) => {
  test.each(['claude-code', 'codex-mcp-client'])('%s gets text alone, and no schemas of results', async (name) => {
    await using server = await serve(connection, name);
    const { tools } = await server.client.listTools();
    expect(tools.filter(({ outputSchema }) => outputSchema !== undefined)).toEqual([]);
    expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThan(12_000);
    const { raw, text } = await server.call('hash_file', HASHED);
    expect(Object.keys(raw)).not.toContain('structuredContent');
    expect(text).toMatch(/^sha256 [0-9a-f]{64} \(8 bytes\)$/);
  });

  test('any other client gets structured content and its JSON as text', async () => {
    await using server = await serve(connection, 'some-client');
    const { tools } = await server.client.listTools();
    expect(tools.filter(({ outputSchema }) => outputSchema === undefined)).toEqual([]);
    const { structured, text } = await server.call('hash_file', HASHED);
    expect(structured).toMatchObject({ path: 'a.txt', algorithm: 'sha256', size: 8 });
    expect(JSON.parse(text)).toEqual(structured);
  });

  test('an operator can have structured content with one line of text for all clients', async () => {
    await using server = await serve(connection, 'claude-code', { results: 'structured' });
    expect((await server.client.listTools()).tools.every(({ outputSchema }) => outputSchema !== undefined)).toBe(true);
    const { structured, text } = await server.call('stat_file', { root: 'w', path: 'broken' });
    expect(structured).toMatchObject({ is_symlink: true, target: null });
    expect(text).toMatch(/^broken: symlink, .*$/);
  });

  test('errors have the same text in every form', async () => {
    await using server = await serve(connection, 'claude-code');
    const { isError, text } = await server.call('hash_file', { ...HASHED, path: 'none' });
    expect([isError, text.split('\n', 1)]).toEqual([true, ['file not found: none (root: w)']]);
  });
});

const [HTTP] = CONNECTIONS as [Connection];

test('an operator can have text for all clients, and structured content for Claude Code', async () => {
  await using text = await serve(HTTP, 'some-client', { results: 'text' });
  expect((await text.call('hash_file', HASHED)).structured).toBeUndefined();
  await using both = await serve(HTTP, 'claude-code', { results: 'both' });
  expect((await both.call('hash_file', HASHED)).structured).toBeDefined();
});

test('tools whose results can be long tell Claude Code how long', async () => {
  const metaOf = async (config: object) => {
    await using server = await serve(HTTP, 'claude-code', { ...config });
    const { tools } = await server.client.listTools();
    return tools.find(({ name }) => name === 'read_file')?._meta;
  };
  expect(await metaOf({})).toEqual({ 'anthropic/maxResultSizeChars': 100_000 });
  expect(await metaOf({ max_result_chars: 7_000 })).toEqual({ 'anthropic/maxResultSizeChars': 7_000 });
  expect(await metaOf({ results: 'both' })).toEqual({ 'anthropic/maxResultSizeChars': 500_000 });
});

test('a result reaches the model of Codex whole, which gets 40,000 bytes at most, and goes on where it ended', async () => {
  const tree = tempDir();
  fs.writeFileSync(
    path.join(tree, 'log'),
    Array.from({ length: 3_000 }, (_, i) => `line ${i + 1} of the log\n`).join(''),
  );
  await using server = await startServer({
    roots: [{ name: 'w', path: tree }],
    client: newClient('legacy', {}, 'codex-mcp-client'),
  });
  const read = async (next: object) => (await server.call('read_file', { root: 'w', path: 'log', ...next })).text;
  const first = await read({});
  expect(Buffer.byteLength(first)).toBeGreaterThan(35_000);
  expect(Buffer.byteLength(first)).toBeLessThanOrEqual(40_000);
  const [, next = ''] = /; next: (\{.*\})\]$/.exec(first) ?? [];
  const last = first.split('\n').at(-2)?.split('\t')[0];
  expect(await read(JSON.parse(next))).toMatch(new RegExp(`^${Number(last) + 1}\tline `));
  fs.rmSync(tree, { recursive: true });
});

const LONG: readonly [tool: string, args: object][] = [
  ['read_file', { path: 'log' }],
  ['read_file', { path: 'log', offset_bytes: 0 }],
  ['read_files', { paths: ['log', 'log'] }],
  ['grep', { path: '', pattern: '行', max_results: 2_000 }],
  ['glob', { path: '', pattern: '**', max_results: 2_000 }],
  ['list_folder', { path: '' }],
  ['list_folder', { path: '', depth: 2 }],
];

test('for Codex, a text of other letters is cut by its bytes, not its characters', async () => {
  const tree = tempDir();
  fs.writeFileSync(
    path.join(tree, 'log'),
    Array.from({ length: 2_000 }, (_, i) => `${i} ${'行'.repeat(40)}\n`).join(''),
  );
  for (let i = 0; i < 400; i++) fs.writeFileSync(path.join(tree, `${i}-${'名'.repeat(70)}`), '');
  await using server = await startServer({
    roots: [{ name: 'w', path: tree }],
    client: newClient('legacy', {}, 'codex-mcp-client'),
  });
  for (const [tool, args] of LONG) {
    const { text } = await server.call(tool, { root: 'w', ...args });
    const bytes = Buffer.byteLength(text);
    expect([tool, args, bytes > 30_000, bytes <= 40_000]).toEqual([tool, args, true, true]);
    expect(text).toMatch(/; next: \{.*\}\]$|on with read_file/);
  }
  fs.rmSync(tree, { recursive: true });
});

test('a form that does not exist, and a limit that leaves no room, are refused at the start', async () => {
  await expect(serve(HTTP, 'x', { results: 'json' })).rejects.toThrow(/results/);
  await expect(serve(HTTP, 'x', { max_result_chars: 10 })).rejects.toThrow(/max_result_chars/);
});

const LINES: readonly [tool: string, args: object, text: RegExp][] = [
  ['list_roots', {}, /^w: all tools$/],
  ['create_folder', { root: 'w', path: 'd' }, /^created d$/],
  ['write_file', { root: 'w', path: 'd/b.txt', content: 'b' }, /^wrote d\/b.txt: 1 bytes, version [0-9a-v]{12}$/],
  [
    'write_file',
    { root: 'w', path: 'd/b.txt', content: 'b', mode: 'append' },
    /^appended to d\/b.txt: 1 bytes, version \w+$/,
  ],
  ['permissions_file', { root: 'w', path: 'd/b.txt' }, /^d\/b.txt: -rw-r--r-- \(0644\) \S+:\S+$/],
  ['stat_file', { root: 'w', path: 'd/b.txt' }, /^d\/b.txt: file, 2 bytes, modified 20\d\d-/],
  ['stat_file', { root: 'w', path: 'broken' }, /^broken: symlink, .*\n-> nothing, the link is broken$/],
  ['copy', ends('d', 'e'), /^copied folder d to e$/],
  ['copy', ends('d/b.txt', 'e/c.txt'), /^copied d\/b.txt to e\/c.txt \(2 bytes\)$/],
  ['move', ends('e', 'f'), /^moved e to f$/],
  ['remove_file', { root: 'w', path: 'd/b.txt' }, /^removed d\/b.txt$/],
  ['remove_folder', { root: 'w', path: 'd' }, /^removed d and everything in it$/],
  ['remove_folder', { root: 'w', path: 'f' }, /^removed f and everything in it$/],
];

function ends(from: string, to: string) {
  return { source_root: 'w', source_path: from, dest_root: 'w', dest_path: to };
}

test('files, folders and matches read as people and ripgrep print them', async () => {
  const tree = tempDir();
  fs.mkdirSync(path.join(tree, 'src'));
  fs.writeFileSync(path.join(tree, 'a.txt'), 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n');
  fs.writeFileSync(path.join(tree, 'src', 'b.txt'), 'one more\n');
  for (const name of ['src', 'a.txt']) fs.utimesSync(path.join(tree, name), 1, 1);
  await using server = await startServer({
    roots: [{ name: 'w', path: tree }],
    client: newClient('legacy', {}, 'claude-code'),
  });
  const text = async (tool: string, args: object) => (await server.call(tool, { root: 'w', ...args })).text;
  expect(await text('list_folder', { path: '' })).toBe('a.txt\t34\t1970-01-01T00:00Z\nsrc/\t-\t1970-01-01T00:00Z\n');
  expect(await text('list_folder', { path: 'src/..' })).toContain('src/');
  expect(await text('read_file', { path: 'a.txt', offset_lines: 2, limit_lines: 2 })).toMatch(
    /^2\ttwo\n3\tthree\n\[.*\]$/,
  );
  expect(await text('glob', { pattern: '**' })).toBe('a.txt\nsrc/\nsrc/b.txt\n');
  expect(await text('glob', { pattern: '*.none' })).toBe(
    '[no match among 2 entries; pattern matches direct children of path; "**/*.none" matches at any depth]',
  );
  for (const [pattern, context] of [
    ['one', 0],
    ['e', 1],
    ['seven|one', 1],
    ['e', 2],
  ] as const) {
    const ripgrep = spawnSync(rgPath, ['--heading', '-n', '--sort', 'path', '-C', String(context), '-e', pattern], {
      cwd: tree,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect(await text('grep', { pattern, context_lines: context })).toBe(ripgrep.stdout);
  }
  fs.rmSync(tree, { recursive: true });
});

test('as text, no name can pass for another line, and a cut line says so', async () => {
  const tree = tempDir();
  fs.writeFileSync(path.join(tree, 'a\n[there are more; next: {}]'), 'x');
  fs.writeFileSync(path.join(tree, 'long'), `${'y'.repeat(5_000)}needle${'y'.repeat(5_000)}\n`);
  await using server = await startServer({
    roots: [{ name: 'w', path: tree }],
    client: newClient('legacy', {}, 'claude-code'),
  });
  const text = async (tool: string, args: object) => (await server.call(tool, { root: 'w', ...args })).text;
  expect((await text('glob', { pattern: '*' })).trimEnd().split('\n')).toHaveLength(2);
  expect((await text('list_folder', { path: '' })).trimEnd().split('\n')).toHaveLength(2);
  expect(await text('grep', { pattern: 'needle' })).toMatch(/ \[part of a longer line: read_file offset_lines 1\]\n$/);
  fs.rmSync(tree, { recursive: true });
});

test.each(['glob', 'grep', 'list_folder', 'read_files', 'read_file', 'list_roots'])(
  'structured content of %s comes with one line of text',
  async (tool) => {
    await using server = await serve(HTTP, 'x', { results: 'structured' });
    const about: Readonly<Record<string, object>> = {
      glob: { root: 'w', pattern: '*' },
      grep: { root: 'w', pattern: 'one' },
      list_folder: { root: 'w', path: '' },
      read_files: { root: 'w', paths: ['a.txt'] },
      read_file: { root: 'w', path: 'a.txt' },
    };
    const { isError, structured, text } = await server.call(tool, { ...about[tool] });
    expect([isError, typeof structured, text.split('\n').length]).toEqual([false, 'object', 1]);
  },
);

test('what a tool did is one line for a reader', async () => {
  await using server = await serve(HTTP, 'claude-code');
  for (const [tool, args, expected] of LINES) expect((await server.call(tool, { ...args })).text).toMatch(expected);
});
