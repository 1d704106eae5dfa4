import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { writeConfig } from '../support/ringfence-process.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const READER = 'reader-token-0123456789';
const SECRET = 'TOP-SECRET-CONTENT';
const BIN = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));

function makeRoot(): string {
  const folder = tempDir('ringfence-guards-');
  fs.mkdirSync(path.join(folder, 'secrets'));
  fs.writeFileSync(path.join(folder, 'secrets', 'key.txt'), SECRET);
  fs.writeFileSync(path.join(folder, 'settings.env'), SECRET);
  fs.writeFileSync(path.join(folder, 'settings.txt'), 'plain');
  return folder;
}

const DENY = ['*.env', '/secrets'];

test('resources, completions and hints know nothing of what is denied, and the log says which rule decided', async () => {
  await using rf = await startServer({ roots: [{ name: 'w', path: makeRoot(), deny: DENY } as never] });
  const { client } = rf;
  const { resources } = await client.listResources();
  expect(resources.map(({ name }) => name)).toEqual(['settings.txt']);
  await expect(client.readResource({ uri: 'ringfence://w/settings.env' })).rejects.toThrow(/not found/i);
  const ref = { type: 'ref/resource', uri: 'ringfence://{root}/{+path}' } as const;
  const complete = async (value: string) => {
    const asked = { ref, argument: { name: 'path', value }, context: { arguments: { root: 'w' } } };
    return (await client.complete(asked)).completion.values;
  };
  expect([await complete(''), await complete('secrets/')]).toEqual([['settings.txt'], []]);
  expect(await rf.fails('read_file', { root: 'w', path: 'settings.en' })).not.toContain('settings.env');
  expect(await rf.fails('read_file', { root: 'w', path: 'settings.env' })).toContain('file not found: settings.env');
  const line = await rf.waitForLog(({ tool, path: asked }) => tool === 'read_file' && asked === 'settings.env');
  expect(line).toMatchObject({ code: 'not_found', rule: 'deny', pattern: '*.env' });
  await rf.fails('write_file', { root: 'w', path: 'new.env', content: 'x' });
  const refused = await rf.waitForLog(({ tool, path: asked }) => tool === 'write_file' && asked === 'new.env');
  expect(refused).toMatchObject({ code: 'not_allowed', rule: 'deny', pattern: '*.env', msg: 'security violation' });
  expect(rf.stderr()).not.toContain(SECRET);
});

test('by default, no tool writes git hooks or settings, and .ringfence does not exist, in any dialect', async () => {
  const folder = makeRoot();
  for (const name of ['.git/hooks', 'nested/repo/.git/hooks', '.ringfence', 'fake/hooks']) {
    fs.mkdirSync(path.join(folder, name), { recursive: true });
  }
  for (const name of [
    '.git/config',
    '.git/HEAD',
    'nested/repo/.git/config',
    '.ringfence/kept',
    'fake/hooks/pre-commit',
  ]) {
    fs.writeFileSync(path.join(folder, name), 'as it was');
  }
  const roots = [{ name: 'w', path: folder }];
  const hooks = ['.git/hooks/pre-commit', '.git/config', 'nested/repo/.git/hooks/new', '.ringfence/x'];
  {
    await using rf = await startServer({ roots });
    for (const file of hooks) {
      expect(await rf.fails('write_file', { root: 'w', path: file, content: 'x' })).toContain('not allowed');
      const copy = { source_root: 'w', source_path: 'settings.txt', dest_root: 'w', dest_path: file };
      expect(await rf.fails('copy', copy)).toContain('not allowed');
    }
    const move = { source_root: 'w', source_path: 'fake', dest_root: 'w', dest_path: 'new/.git' };
    expect(await rf.fails('move', move)).toContain('not allowed');
    expect(await rf.fails('move', { ...move, source_path: '.git', dest_path: 'g' })).toContain('not allowed');
    expect(await rf.fails('remove_folder', { root: 'w', path: 'nested' })).toContain('not allowed');
    expect(await rf.fails('read_file', { root: 'w', path: '.ringfence/kept' })).toContain('not found');
    const { entries } = await rf.ok('list_folder', { root: 'w', path: '' });
    expect(entries.map(({ name }: { name: string }) => name)).toEqual([
      '.git',
      'fake',
      'nested',
      'secrets',
      'settings.env',
      'settings.txt',
    ]);
    expect((await rf.ok('read_file', { root: 'w', path: '.git/config' })).content).toBe('as it was');
    await rf.ok('write_file', { root: 'w', path: '.git/HEAD', content: 'ref' });
  }
  for (const [dialect, tool, encoding] of [
    ['memory', 'create', 'utf-8'],
    ['classic', 'write', 'utf8'],
  ] as const) {
    await using rf = await startServer({ dialect, roots, config: { dialects: { [dialect]: { root: 'w' } } } } as never);
    // `create` refuses a file that exists before anything else.
    for (const file of hooks.filter((name) => name !== '.git/config')) {
      const { isError, text } = await rf.call(tool, { path: file, content: 'x', encoding });
      expect([file, isError, text]).toEqual([
        file,
        true,
        expect.stringMatching(/not allowed|permission denied|does not exist/i),
      ]);
    }
    await rf.ok(tool, { path: `plain-${dialect}.txt`, content: 'x', encoding });
  }
  expect(fs.readdirSync(path.join(folder, '.git/hooks'))).toEqual([]);
  expect(fs.readdirSync(path.join(folder, 'nested/repo/.git/hooks'))).toEqual([]);
  expect(fs.readdirSync(path.join(folder, '.ringfence'))).toEqual(['kept']);
});

test('a token may do no more than its tools say', async () => {
  const tokens = [{ name: 'reader', token_env: 'READER', roots: ['w'], tools: ['read_file', 'list_folder'] }];
  const roots = [{ name: 'w', path: makeRoot() }];
  await using rf = await startServer({ roots, config: { auth: { tokens } }, env: { READER }, token: READER });
  expect(await rf.ok('list_roots')).toEqual({ roots: [{ name: 'w', allowed_tools: ['list_folder', 'read_file'] }] });
  await rf.ok('read_file', { root: 'w', path: 'settings.txt' });
  expect(await rf.fails('write_file', { root: 'w', path: 'x', content: 'x' })).toContain('not allowed');
  expect(await rf.fails('grep', { root: 'w', pattern: 'x' })).toContain('not allowed');
});

test('the config file and the log are protected where they lie in a root', async () => {
  const folder = makeRoot();
  fs.mkdirSync(path.join(folder, 'conf'));
  const config = path.join(folder, 'conf', 'ringfence.yaml');
  fs.copyFileSync(writeConfig({ roots: [{ name: 'w', path: folder, allowed_tools: ['*'] }] }), config);
  const log = fs.openSync(path.join(folder, 'server.log'), 'w');
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    [BIN, 'stdio', '--config', config],
    { stdio: ['pipe', 'pipe', log] },
  ) as never;
  const call = (id: number, name: string, args: object) =>
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })}\n`,
    );
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } };
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params })}\n`);
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  const before = fs.readFileSync(config, 'utf8');
  call(1, 'write_file', { root: 'w', path: 'conf/ringfence.yaml', content: 'x' });
  call(2, 'remove_folder', { root: 'w', path: 'conf' });
  call(3, 'write_file', { root: 'w', path: 'server.log', content: 'x' });
  call(4, 'remove_file', { root: 'w', path: 'server.log' });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.split('\n').length > 5) child.stdin.end();
  });
  await once(child, 'close');
  const answers = output
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text));
  expect(answers.filter(({ id }) => id > 0).map(({ result }) => result.isError)).toEqual([true, true, true, true]);
  expect(fs.readFileSync(config, 'utf8')).toBe(before);
  expect(fs.readFileSync(path.join(folder, 'server.log'), 'utf8')).toContain('not_allowed');
});

test.each([
  [{ deny: ['# x'] }, 'roots[0].deny[0]: "# x" is a comment'],
  [{ protect: ['a', ''] }, 'roots[0].protect[1]: "" is empty'],
  [{ deny: ['a\nb'] }, 'roots[0].deny[0]: "a\\nb" has a line break'],
  [{ deny: ['[z-a]x'] }, 'roots[0].deny[0]: "[z-a]x" is not a valid gitignore pattern'],
])('a rule without effect stops the start: %j', async (rules, problem) => {
  const roots = [{ name: 'w', path: makeRoot(), ...rules }];
  await expect(startServer({ roots })).rejects.toThrow(problem);
});

test('who starts a server that anyone can reach is told so in plain words', async () => {
  const roots = [{ name: 'w', path: makeRoot() }];
  const start = async (more: object) => {
    await using rf = await startServer({ roots, config: { host: '0.0.0.0', ...more } });
    return rf
      .stderr()
      .split('\n')
      .filter((line) => line.startsWith('WARNING'));
  };
  expect(await start({})).toEqual([
    expect.stringMatching(/anyone on the network .* can read and write these roots: w\./),
  ]);
  expect(await start({ host: '127.0.0.1' })).toEqual([]);
});
