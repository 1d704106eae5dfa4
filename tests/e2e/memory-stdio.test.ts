import fs from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { treeOf } from '../../src/fence/sandbox.fixture.ts';
import { cannotDropPrivileges } from '../support/child.ts';
import { ERAS, type Era } from '../support/connections.ts';
import { type RunOptions, runRingfence } from '../support/ringfence-process.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const dir = tempDir('ringfence-memory-stdio-');
fs.chmodSync(dir, 0o755);
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));

const start = (base: string, era: Era) => startServer({ dialect: 'memory', env: { BASE_PATH: base }, era });

describe.each(ERAS)('a %s client of `ringfence memory`', (era) => {
  test('file-storage-backend/AC-2 file-storage-backend/AC-5: uses all six tools, and finds its files after a restart', async () => {
    const base = path.join(dir, era, 'notes');
    {
      await using rf = await start(base, era);
      expect(rf.client.getServerVersion()).toMatchObject({ name: 'file-storage-backend' });
      const { tools } = await rf.client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(['view', 'create', 'str_replace', 'insert', 'delete', 'rename']);
      await rf.ok('create', { path: 'gtd/inbox.md', content: 'buy milk\r\n', encoding: 'utf-8' });
      await rf.ok('create', { path: 'logo.bin', content: '/wAB', encoding: 'base64' });
      await rf.ok('create', { path: 'scratch', content: '', encoding: 'utf-8' });
      await rf.ok('str_replace', { path: 'gtd/inbox.md', old_str: 'milk', new_str: '$& and bread' });
      await rf.ok('insert', { path: 'gtd/inbox.md', insert_line: 1, new_str: '# Inbox\r\n' });
      await rf.ok('delete', { path: 'scratch' });
      await rf.ok('rename', { old_path: 'gtd/inbox.md', new_path: 'gtd/next/today.md' });
    }
    await using again = await start(base, era);
    const structured = await again.ok('view', { path: 'gtd/next/today.md' });
    const content = '# Inbox\r\nbuy $& and bread\r\n';
    expect(structured).toEqual({ type: 'file', content, encoding: 'utf-8', size: content.length });
    expect(await again.ok('view', { path: 'logo.bin' })).toMatchObject({
      content: '/wAB',
      encoding: 'base64',
      size: 3,
    });
    expect((await again.ok('view', { path: '.' })).entries).toEqual(['gtd', 'logo.bin']);
    expect(treeOf(base)).toEqual(['gtd/', 'gtd/next/', 'gtd/next/today.md', 'logo.bin']);
  });

  test('gets errors as JSON, and the log has a line for each call', async () => {
    const base = path.join(dir, era, 'errors');
    fs.mkdirSync(base, { recursive: true });
    fs.writeFileSync(path.join(base, 'a.md'), 'x x');
    await using rf = await start(base, era);
    expect(await rf.fails('view', { path: 'none.md' })).toEqual({
      code: 'file_not_found',
      message: 'File not found: none.md',
      path: 'none.md',
    });
    expect(await rf.fails('create', { path: 'a.md', content: '', encoding: 'utf-8' })).toMatchObject({
      code: 'file_exists',
    });
    expect(await rf.fails('str_replace', { path: 'a.md', old_str: 'x', new_str: 'y' })).toMatchObject({
      code: 'string_not_unique',
      message: 'String appears 2 times, must be unique',
    });
    expect(await rf.fails('insert', { path: 'a.md', insert_line: 9, new_str: 'y' })).toMatchObject({
      code: 'invalid_line_number',
    });
    expect(await rf.fails('delete', { path: '../a.md' })).toMatchObject({ code: 'path_security' });
    expect(await rf.fails('rename', { old_path: 'a.md', new_path: '/etc/x' })).toMatchObject({
      code: 'path_security',
    });
    expect(await rf.fails('view', {})).toMatchObject({ code: 'invalid_arguments' });
    await expect(rf.call('veiw', { path: '.' })).rejects.toMatchObject({ code: -32602 });

    await rf.waitForLog(({ tool }) => tool === 'veiw');
    const calls = rf.logs().filter(({ tool }) => tool !== undefined);
    const all = { dialect: 'memory', outcome: 'error' };
    const onA = { ...all, root: 'memory', path: 'a.md', level: 'info' };
    expect(calls).toMatchObject([
      { ...all, tool: 'view', root: 'memory', path: 'none.md', code: 'not_found', level: 'info' },
      { ...onA, tool: 'create', code: 'already_exists' },
      { ...onA, tool: 'str_replace', code: 'text_not_unique' },
      { ...onA, tool: 'insert', code: 'line_out_of_range' },
      { ...all, tool: 'delete', root: 'memory', path: '../a.md', attempted_path: '../a.md', level: 'warn' },
      { ...onA, tool: 'rename', level: 'warn', new_path: '/etc/x', attempted_path: '/etc/x' },
      { ...all, tool: 'view', code: 'invalid_argument' },
      { ...all, tool: 'veiw', code: 'unknown_tool' },
    ]);
    expect(rf.stderr()).not.toContain(base);
  });
});

describe('a BASE_PATH that cannot be used is one clear line and a non-zero exit', () => {
  async function refusal(options: RunOptions): Promise<string> {
    const { code, stdout, stderr } = await runRingfence(['memory'], options);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^ringfence: BASE_PATH: [^\n]+\n$/);
    return stderr;
  }

  test('not set, empty, relative', async () => {
    expect(await refusal({})).toContain('not set');
    expect(await refusal({ env: { BASE_PATH: '' } })).toContain('not set');
    expect(await refusal({ env: { BASE_PATH: 'notes' }, cwd: dir })).toContain('absolute path, got "notes"');
    expect(await refusal({ env: { BASE_PATH: 'two\nlines' }, cwd: dir })).toContain('got "two lines"');
    expect(fs.existsSync(path.join(dir, 'notes'))).toBe(false);
  });

  test('a file, below a file, where nothing can be made', async () => {
    const file = path.join(dir, 'file');
    fs.writeFileSync(file, '');
    expect(await refusal({ env: { BASE_PATH: file } })).toContain('is not a folder');
    expect(await refusal({ env: { BASE_PATH: `${file}/below` } })).toContain('cannot be made: ENOTDIR');
    expect(await refusal({ env: { BASE_PATH: '/proc/nothing/here' } })).toContain('cannot be made: ENOENT');
  });

  const as = cannotDropPrivileges ?? 'as nobody';
  test.skipIf(cannotDropPrivileges)(`not writable, not readable, not to be made (${as})`, async () => {
    const made = (name: string, mode: number): string => {
      const folder = path.join(dir, name);
      fs.mkdirSync(folder);
      fs.chmodSync(folder, mode);
      return folder;
    };
    const asNobody = (base: string): RunOptions => ({ env: { BASE_PATH: base }, unprivileged: true });
    const readOnly = made('read-only', 0o755);
    expect(await refusal(asNobody(readOnly))).toContain('cannot be written by this user');
    expect(await refusal(asNobody(made('locked', 0o700)))).toContain('cannot be read by this user');
    expect(await refusal(asNobody(path.join(readOnly, 'new')))).toContain('cannot be made: EACCES');
    expect(fs.readdirSync(readOnly)).toEqual([]);
  });
});

test('arguments are refused: the folder comes by BASE_PATH alone', async () => {
  const { code, stdout, stderr } = await runRingfence(['memory', dir], { env: { BASE_PATH: dir } });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('too many arguments');
});
