import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runRingfence, writeConfig } from '../support/ringfence-process.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const dir = tempDir();
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));
const root = (name: string, more = {}) => ({ name, path: dir, allowed_tools: ['*'], ...more });

/** Starts with a config that cannot work and returns the one line it ends with. */
async function refusal(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await runRingfence(args, { env });
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^ringfence: [^\n]+\n$/);
  expect(code).toBe(2);
  return stderr;
}

test('E2E-080 FR-018: starts with a valid config, and health answers 200', async () => {
  await using rf = await startServer({ roots: [root('a')] });
  const health = await fetch(new URL('/health', rf.url));
  expect([health.status, await health.text()]).toEqual([200, 'ok']);
});

test('E2E-081 FR-018: duplicate root names', async () => {
  const file = writeConfig({ roots: [root('data'), root('data')] });
  expect(await refusal(['serve', '--config', file])).toContain(`${file}: roots[1].name: duplicate root name "data"`);
});

test('E2E-082 FR-018: a root path that does not exist', async () => {
  const file = writeConfig({ roots: [root('a', { path: path.join(dir, 'missing') })] });
  expect(await refusal(['serve', '--config', file])).toMatch(/roots\[0\]\.path: the folder .*missing does not exist/);
});

test('E2E-083 FR-018: an unknown tool in an allowlist', async () => {
  const file = writeConfig({ roots: [root('a', { allowed_tools: ['nonexistent_tool'] })] });
  expect(await refusal(['serve', '--config', file])).toContain(
    'roots[0].allowed_tools[0]: unknown tool "nonexistent_tool"',
  );
});

test('FR-018: stdio refuses the same configs', async () => {
  expect(await refusal(['stdio', '--config', writeConfig({ roots: [] })])).toContain('roots must be a non-empty list');
});

test('stdio on a config without workspace says which dialects it has, and how to start them', async () => {
  const dialects = { memory: { root: 'a' }, classic: { root: 'a' } };
  const file = writeConfig({ roots: [root('a')], dialects });
  const line = await refusal(['stdio', '--config', file]);
  expect(line).toContain(`${file}: dialects: names only memory and classic`);
  expect(line).toContain(`"ringfence serve --config ${file}"`);
  const both = {
    transport: 'stdio',
    roots: [root('a')],
    config: { dialects: { ...dialects, workspace: {} } },
  } as const;
  await using rf = await startServer(both);
  expect((await rf.call('list_roots')).isError).toBe(false);
});

describe('FR-018: the command line', () => {
  test.each([
    [['serve'], 'nothing to serve'],
    [['stdio'], 'nothing to serve'],
    [['serve', '--config', 'x.yaml', dir], 'not both'],
    [['serve', '--config', '/nonexistent/x.yaml'], '/nonexistent/x.yaml: no such config file'],
    [['serve', path.join(dir, 'missing')], 'does not exist'],
    [['serve', dir, '--port', 'x'], '--port: must be an integer from 0 to 65535, got "x"'],
    [['serve', dir, '--port', '65536'], '--port: must be'],
  ])('%j', async (args, message) => {
    expect(await refusal(args)).toContain(message);
  });

  test('a fence that does not exist', async () => {
    expect(await refusal(['stdio', dir], { RINGFENCE_FENCE: 'wall' })).toContain('RINGFENCE_FENCE');
  });

  test('an unknown option or command', async () => {
    for (const args of [['serve', '--prot', '1'], ['serv']]) {
      const { code, stderr } = await runRingfence(args);
      expect([code, stderr.split('\n').length > 1]).toEqual([2, true]);
      expect(stderr).toMatch(/^error: unknown (option|command)/);
    }
  });

  test('--version and --help', async () => {
    const { version } = JSON.parse(fs.readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await runRingfence(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    const help = await runRingfence(['--help']);
    expect([help.code, help.stdout]).toEqual([0, expect.stringContaining('stdio')]);
  });
});

test('FR-018: a port in use and a foreign address are one line, exit code 1', async () => {
  const taken = net.createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as net.AddressInfo;
  const inUse = await runRingfence(['serve', dir, '--port', String(port)]);
  taken.close();
  expect([inUse.code, inUse.stderr]).toEqual([
    1,
    expect.stringMatching(/^ringfence: --port: port \d+ on 127\.0\.0\.1 is already in use[^\n]*\n$/),
  ]);
  const file = writeConfig({ host: '203.0.113.7', roots: [root('a')] });
  expect((await runRingfence(['serve', '--config', file])).stderr).toContain(`${file}: host: 203.0.113.7 is not an`);
  const foreign = await runRingfence(['serve', dir, '--host', '203.0.113.7', '--port', '0']);
  expect([foreign.code, foreign.stderr]).toEqual([
    1,
    expect.stringMatching(/^ringfence: --host: 203\.0\.113\.7 is not an address of this machine[^\n]*\n$/),
  ]);
});

test('NFR-016: an empty root folder is fine', async () => {
  const empty = tempDir();
  await using rf = await startServer({ transport: 'stdio', roots: [root('empty', { path: empty })] });
  expect((await rf.call('list_folder', { root: 'empty', path: '.' })).structured).toMatchObject({ count: 0 });
  fs.rmdirSync(empty);
});

test('NFR-018: the start is logged with address, names of roots and config file, without host paths', async () => {
  await using rf = await startServer({ roots: [root('one'), root('two')] });
  const line = await rf.waitForLog(({ msg }) => msg === 'listening');
  expect(line).toMatchObject({
    level: 'info',
    roots: ['one', 'two'],
    fence: expect.any(String),
    version: expect.any(String),
  });
  expect(line.address).toBe(new URL(rf.url).host);
  expect(line.config).toMatch(/ringfence\.yaml$/);
  expect(rf.stderr()).not.toContain(dir);
});

test('a server that other machines can reach warns about it', async () => {
  await using open = await startServer({ roots: [root('a')], config: { host: '0.0.0.0' } });
  expect(await open.waitForLog(({ level }) => level === 'warn')).toMatchObject({ host: '0.0.0.0' });
  await using closed = await startServer({ roots: [root('a')] });
  await closed.stop();
  expect(closed.logs().filter(({ level }) => level === 'warn')).toEqual([]);
});

test('log_level: warn leaves out what is not a warning', async () => {
  await using rf = await startServer({ transport: 'stdio', roots: [root('a')], config: { log_level: 'warn' } });
  await rf.call('list_roots');
  await rf.call('read_file', { root: 'a', path: '../x' });
  await rf.waitForLog(({ level }) => level === 'warn');
  expect(rf.logs().every(({ level }) => level === 'warn')).toBe(true);
});
