import fs from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { treeOf } from '../../src/fence/sandbox.fixture.ts';
import { ERAS } from '../support/connections.ts';
import { runRingfence } from '../support/ringfence-process.ts';
import { type ServerOptions, startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const dir = tempDir('ringfence-classic-stdio-');
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));

function folder(name: string): string {
  const host = path.join(dir, name);
  fs.mkdirSync(host, { recursive: true });
  return host;
}

const start = (options: ServerOptions<'classic'> = {}) => startServer({ dialect: 'classic', ...options });

describe.each(ERAS)('a %s client of `ringfence classic`', (era) => {
  test('filesystem-server/tools: uses all nine tools in the current directory', async () => {
    const root = folder(`${era}-tools`);
    await using rf = await start({ cwd: root, era });
    expect(rf.client.getServerVersion()).toMatchObject({ name: 'filesystem-server', version: '0.1.0' });
    const { tools } = await rf.client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(
      ['copy', 'delete', 'info', 'list', 'mkdir', 'move', 'read', 'search', 'write'].sort(),
    );
    expect(await rf.ok('mkdir', { path: 'docs/new' })).toEqual({ success: true, path: 'docs/new' });
    expect(await rf.ok('write', { path: 'docs/a.txt', content: 'one\ntwo\n' })).toMatchObject({ bytes_written: 8 });
    expect(await rf.ok('read', { path: 'docs/a.txt', start_line: 1, end_line: 1 })).toMatchObject({
      content: 'two\n',
      encoding: 'utf8',
      truncated: false,
      line_count: 2,
    });
    expect(await rf.ok('copy', { source: 'docs/a.txt', destination: 'docs/b.txt' })).toMatchObject({
      bytes_copied: 8,
    });
    await rf.ok('move', { source: 'docs/b.txt', destination: 'docs/c.txt' });
    expect(await rf.ok('info', { path: 'docs/c.txt' })).toMatchObject({ exists: true, type: 'file', size: 8 });
    expect((await rf.ok('list', { path: 'docs' })).entries).toMatchObject([
      { path: 'docs/a.txt' },
      { path: 'docs/c.txt' },
      { path: 'docs/new', type: 'directory' },
    ]);
    expect(await rf.ok('search', { root_path: '.', pattern: 'TWO' })).toMatchObject({
      total_matches: 2,
      files_matched: 2,
    });
    expect(await rf.ok('delete', { path: 'docs', recursive: true })).toMatchObject({ type: 'directory' });
    expect(treeOf(root)).toEqual([]);
  });

  test('filesystem-server/errors: gets errors in the contract’s shape, and the log has a line for each call', async () => {
    const root = folder(`${era}-errors`);
    fs.writeFileSync(path.join(root, 'a'), 'a');
    fs.writeFileSync(path.join(root, 'b'), 'b');
    await using rf = await start({ args: ['--root-dir', root], era });
    expect(await rf.fails('read', { path: 'none' })).toEqual({
      code: 'not_found',
      message: 'The specified path does not exist',
      details: { path: 'none', operation: 'read' },
    });
    expect(await rf.fails('copy', { source: 'a', destination: 'b' })).toMatchObject({
      code: 'already_exists',
      details: { path: 'b', operation: 'copy' },
    });
    expect(await rf.fails('move', { source: 'a', destination: '../a' })).toMatchObject({
      code: 'path_validation_error',
      details: { path: '../a', operation: 'move' },
    });
    expect(await rf.fails('search', { root_path: '/etc', pattern: 'root' })).toMatchObject({
      code: 'path_validation_error',
      details: { path: '/etc', operation: 'search' },
    });
    expect(await rf.fails('write', { path: 'c' })).toMatchObject({ code: 'invalid_parameters' });
    await rf.ok('move', { source: 'a', destination: 'c' });

    await rf.waitForLog(({ tool, outcome }) => tool === 'move' && outcome === 'success');
    const all = { dialect: 'classic', root: 'root', level: 'info' };
    expect(rf.logs().filter(({ tool }) => tool !== undefined)).toMatchObject([
      { ...all, tool: 'read', path: 'none', outcome: 'error', code: 'not_found' },
      { ...all, tool: 'copy', path: 'a', source: 'a', destination: 'b', code: 'already_exists' },
      { ...all, tool: 'move', path: 'a', source: 'a', destination: '../a', attempted_path: '../a', level: 'warn' },
      { ...all, tool: 'search', path: '/etc', attempted_path: '/etc', code: 'outside_root', level: 'warn' },
      { dialect: 'classic', tool: 'write', path: 'c', outcome: 'error', code: 'invalid_argument' },
      { ...all, tool: 'move', path: 'a', source: 'a', destination: 'c', outcome: 'success' },
    ]);
    expect(rf.stderr()).not.toContain(root);
  });
});

describe('filesystem-server/config', () => {
  test('the root: flag over environment over the current directory', async () => {
    const [flag, variable, current] = ['flag', 'variable', 'current'].map((name) => {
      const host = folder(name);
      fs.writeFileSync(path.join(host, name), '');
      return host;
    }) as [string, string, string];
    const rootOf = async (options: ServerOptions<'classic'>) => {
      await using rf = await start({ ...options, cwd: current });
      return (await rf.ok('list', { path: '.' })).entries.map(({ name }: { name: string }) => name);
    };
    const env = { FS_SERVER_ROOT: variable };
    expect(await rootOf({ args: ['--root-dir', flag], env })).toEqual(['flag']);
    expect(await rootOf({ env })).toEqual(['variable']);
    expect(await rootOf({})).toEqual(['current']);
    expect(await rootOf({ args: ['--root-dir', '../flag'] })).toEqual(['flag']);
  });

  test('the size limit: a longer file is cut, and the log warns of it', async () => {
    const root = folder('large');
    fs.writeFileSync(path.join(root, 'large.txt'), 'x'.repeat(5_000));
    const env = { FS_SERVER_ROOT: root, FS_MAX_FILE_SIZE: '1000' };
    await using rf = await start({ env });
    const read = await rf.ok('read', { path: 'large.txt' });
    expect(read).toMatchObject({ content: 'x'.repeat(1_000), truncated: true, size: 5_000 });
    expect(await rf.waitForLog(({ level }) => level === 'warn')).toMatchObject({
      msg: 'file truncated',
      tool: 'read',
      dialect: 'classic',
      path: 'large.txt',
      size: 5_000,
      returned: 1_000,
      limit: 1_000,
    });
    expect(rf.stderr()).not.toContain('xxx');
    await using flagged = await start({ args: ['--max-file-size', '6000'], env });
    expect(await flagged.ok('read', { path: 'large.txt' })).toMatchObject({ truncated: false });
  });

  test('the log level', async () => {
    const args = ['--root-dir', folder('quiet'), '--log-level', 'warn'];
    await using rf = await start({ args, env: { FS_LOG_LEVEL: 'trace' } });
    await rf.ok('list', { path: '.' });
    await rf.fails('list', { path: '..' });
    await rf.waitForLog(({ level }) => level === 'warn');
    expect(rf.logs().map(({ level }) => level)).toEqual(['warn']);
  });

  test('what is invalid is one clear line and a non-zero exit', async () => {
    const refusal = async (args: string[], env = {}) => {
      const { code, stdout, stderr } = await runRingfence(['classic', ...args], { env, cwd: dir });
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/^ringfence: [^\n]+\n$/);
      return stderr;
    };
    expect(await refusal(['--root-dir', 'none'])).toMatch(/--root-dir: the folder .*\/none does not exist/);
    expect(await refusal([], { FS_REQUEST_TIMEOUT: 'soon' })).toContain('FS_REQUEST_TIMEOUT: must be a number');
    expect(await refusal(['--log-level', 'loud'])).toContain('--log-level: must be one of error, warn');
  });
});

describe('filesystem-server/config: a request timeout stops the work', () => {
  /** What the process used of the processor so far, in clock ticks, all its threads together. */
  function ticks(pid: number): number {
    const fields = fs
      .readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return Number(fields[11]) + Number(fields[12]);
  }

  /** Waits for half a second in which the process does next to nothing. One that works on never has it. */
  const settles = (rf: TestServer<'classic'>) =>
    expect
      .poll(
        async () => {
          const before = ticks(rf.pid);
          await new Promise((resolve) => setTimeout(resolve, 500));
          return ticks(rf.pid) - before;
        },
        { timeout: 10_000, interval: 0 },
      )
      .toBeLessThan(5);

  const timeout = (operation: string, seconds: string) => ({
    code: 'timeout',
    message: `The operation timed out after ${seconds} seconds`,
    details: { path: expect.any(String), operation },
  });

  test('of search, in a tree that takes minutes to search', async () => {
    const root = folder('tree');
    const block = path.join(root, '0000.txt');
    fs.writeFileSync(block, 'neeeed nothing here, nor in any other line of this file\n'.repeat(150_000));
    for (let index = 1; index < 4_000; index += 1) fs.linkSync(block, path.join(root, `${index}.txt`));
    await using rf = await start({ env: { FS_SERVER_ROOT: root, FS_REQUEST_TIMEOUT: '1' } });
    const search = { root_path: '.', pattern: '(n|m)e+dl[a-f] \\d', regex: true };
    expect(await rf.fails('search', search)).toEqual(timeout('search', '1'));
    await settles(rf);
    // The workers are free again.
    expect(await rf.ok('search', { root_path: '0000.txt', pattern: 'neeeed', max_results: 1 })).toMatchObject({
      total_matches: 1,
    });
  });

  test('of read, whose line count needs the whole of a file', async () => {
    const root = folder('sparse');
    fs.writeFileSync(path.join(root, 'huge'), '');
    fs.truncateSync(path.join(root, 'huge'), 500 * 1024 ** 3);
    await using rf = await start({ env: { FS_SERVER_ROOT: root, FS_REQUEST_TIMEOUT: '1' } });
    expect(await rf.fails('read', { path: 'huge' })).toEqual(timeout('read', '1'));
    await settles(rf);
    expect(await rf.waitForLog(({ tool }) => tool === 'read')).toMatchObject({ code: 'timed_out', path: 'huge' });
  });

  test('of copy, of which nothing is left', async () => {
    const root = folder('copied');
    fs.writeFileSync(path.join(root, 'huge'), '');
    fs.truncateSync(path.join(root, 'huge'), 500 * 1024 ** 3);
    await using rf = await start({ args: ['--request-timeout', '0.2', '--root-dir', root] });
    expect(await rf.fails('copy', { source: 'huge', destination: 'copy' })).toEqual(timeout('copy', '0.2'));
    expect(fs.readdirSync(root)).toEqual(['huge']);
    await settles(rf);
  });
});
