import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cannotDropPrivileges } from '../support/child.ts';
import { freePort } from '../support/free-port.ts';
import { LANDLOCK_PROBLEM } from '../support/landlock.ts';
import { ProcessLog, runRingfence, spawnRingfence, writeConfig } from '../support/ringfence-process.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const BROKEN_FENCE = new URL('../support/broken-fence.js', import.meta.url).href;
const WITHOUT_LANDLOCK = new URL('../support/without-landlock.cjs', import.meta.url).pathname;
const SECRET = 'the secret outside';
const OWN_THREADS = ['search-worker', 'edit-worker', 'stat-worker'];
const WHERE = ['main', 'pool', 'worker', 'worker-pool', ...OWN_THREADS];

const reason = LANDLOCK_PROBLEM;
const suite = reason === undefined ? describe : describe.skip;

/** A root beside a folder with a secret, and a link from the one to the other. */
let base: string;
let inside: string;
let outside: string;
let occupied: net.Server;
let otherPort: number;

beforeAll(async () => {
  occupied = await listen();
  otherPort = await freePort();
});
afterAll(() => occupied.close());

beforeEach(() => {
  base = tempDir('ringfence-landlock-');
  [inside, outside] = ['inside', 'outside'].map((name) => path.join(base, name)) as [string, string];
  for (const folder of [inside, outside]) fs.mkdirSync(folder);
  fs.mkdirSync(path.join(outside, 'deep'));
  for (const name of ['secret.txt', 'deep/secret.txt']) fs.writeFileSync(path.join(outside, name), SECRET);
  fs.writeFileSync(path.join(inside, 'own.txt'), 'own text');
  fs.symlinkSync(outside, path.join(inside, 'way-out'));
  fs.writeFileSync(path.join(inside, 'program.sh'), '#!/bin/sh\n', { mode: 0o755 });
  for (const own of WHERE) {
    for (const name of ['overwritten', 'appended', 'truncated', 'moved', 'removed']) {
      fs.writeFileSync(path.join(outside, `${name}-${own}`), 'untouched');
    }
    fs.writeFileSync(path.join(inside, `inside-${own}`), '');
  }
  return () => fs.rmSync(base, { recursive: true, force: true });
});

/** The environment that breaks the fence of a server, once Node has started it. */
function broken(landlock = 'auto'): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${BROKEN_FENCE}`,
    RINGFENCE_LANDLOCK: landlock,
    PROBE_OUTSIDE: outside,
    PROBE_INSIDE: inside,
    PROBE_PORT: String(portOf(occupied)),
    PROBE_FREE_PORT: String(otherPort),
  };
}

suite(`a server whose fence is broken${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  test('gets out where Landlock is off: the fence is broken indeed, and each attempt is one', async () => {
    await using server = await startServer({ args: [inside], transport: 'stdio', env: broken('off') });
    const read = await server.call('read_file', { root: 'inside', path: 'way-out/secret.txt' });
    expect(read.structured).toMatchObject({ content: SECRET });
    const found = await server.call('grep', { root: 'inside', path: 'way-out/deep', pattern: 'secret' });
    expect(found.structured).toMatchObject({ total_matches: 1 });
    const written = await server.call('write_file', { root: 'inside', path: 'way-out/new.txt', content: 'x' });
    expect(written.isError).toBe(false);
    const { unrestrictedThreads, ...outcomes } = await probe(server);
    expect(unique(outcomes)).toEqual(['ok']);
    expect(unrestrictedThreads).toBeGreaterThan(threadsOfNode());
  });

  test.each(['1', '9', 'x'])('is held on all threads, with UV_THREADPOOL_SIZE=%s', async (size) => {
    const before = snapshot(outside);
    const env = { ...broken(), UV_THREADPOOL_SIZE: size };
    await using server = await startServer({ args: [inside], transport: 'stdio', env });
    expectHeld(await probe(server));
    expect(snapshot(outside)).toEqual(before);
  });

  test.each(['off', 'auto'])('tries from each of its own threads, with Landlock %s', async (landlock) => {
    fs.mkdirSync(path.join(inside, 'many'));
    for (let i = 0; i < 600; i += 1) fs.writeFileSync(path.join(inside, 'many', `f${i}`), '');
    fs.writeFileSync(path.join(inside, 'large.txt'), 'a line of text\n'.repeat(200_000));
    const before = snapshot(outside);
    const env = { ...broken(landlock), PROBE_THREADS: '1' };
    await using server = await startServer({ args: [inside], transport: 'stdio', env });
    const call = (name: string, args: object) => server.call(name as 'read_file', { root: 'inside', ...args } as never);
    expect((await call('list_folder', { path: 'many' })).isError).toBe(false);
    expect((await call('grep', { pattern: 'own text' })).structured).toMatchObject({ total_matches: 1 });
    const edit = { path: 'large.txt', old_text: 'line', new_text: 'row', replace_all: true };
    expect((await call('edit_file', edit)).isError).toBe(false);
    for (const kind of OWN_THREADS) {
      const { outcomes } = await server.waitForLog(({ msg, thread }) => msg === 'thread probe' && thread === kind);
      if (landlock === 'off') expect([kind, unique(outcomes)]).toEqual([kind, ['ok']]);
      else expectFilesHeld(outcomes);
    }
    if (landlock !== 'off') expect(snapshot(outside)).toEqual(before);
  });

  test('answers every tool that leads out with an error, and serves its root as before', async () => {
    await using server = await startServer({ args: [inside], transport: 'stdio', env: broken() });
    const before = snapshot(outside);
    const call = (name: string, args: object) => server.call(name as 'read_file', args as never);
    const between = (source_path: string, dest_path: string) => ({
      source_root: 'inside',
      source_path,
      dest_root: 'inside',
      dest_path,
    });
    for (const [name, args] of [
      ['read_file', { root: 'inside', path: 'way-out/secret.txt' }],
      ['hash_file', { root: 'inside', path: 'way-out/secret.txt', algorithm: 'sha256' }],
      ['list_folder', { root: 'inside', path: 'way-out' }],
      ['write_file', { root: 'inside', path: 'way-out/new.txt', content: 'x' }],
      ['write_file', { root: 'inside', path: 'way-out/secret.txt', content: 'x', mode: 'append' }],
      ['create_folder', { root: 'inside', path: 'way-out/new' }],
      ['remove_file', { root: 'inside', path: 'way-out/secret.txt' }],
      ['copy', between('way-out/secret.txt', 'copied')],
      ['move', between('own.txt', 'way-out/own.txt')],
      ['move', between('way-out/secret.txt', 'moved')],
    ] as const) {
      const { isError, text } = await call(name, args);
      expect([name, isError, text]).toEqual([name, true, expect.stringMatching(/permission denied|outside root/)]);
      expect(text).not.toContain(base);
    }
    const found = await call('grep', { root: 'inside', path: 'way-out/deep', pattern: 'secret' });
    expect(found.text).not.toContain('secret.txt');
    expect(snapshot(outside)).toEqual(before);
    expect((await call('read_file', { root: 'inside', path: 'own.txt' })).structured).toMatchObject({
      content: 'own text',
    });
    expect((await call('grep', { root: 'inside', pattern: 'own text' })).structured).toMatchObject({
      total_matches: 1,
    });
  });

  test.each(['memory', 'classic', 'guide'] as const)('is held in the %s dialect', async (dialect) => {
    const before = snapshot(outside);
    const env = { ...broken(), BASE_PATH: inside, FS_SERVER_ROOT: inside };
    await using server = await startServer({ dialect, transport: 'stdio', env, cwd: inside, args: [] });
    expectHeld(await probe(server));
    expect(snapshot(outside)).toEqual(before);
  });

  test.each(['127.0.0.1', 'localhost'])(
    'is held over HTTP on %s, and can only listen on its own port',
    async (host) => {
      const before = snapshot(outside);
      const roots = [{ name: 'inside', path: inside }];
      const config = { host, port: await freePort(), hardening: { landlock: 'require' } };
      await using server = await startServer({ roots, env: broken('off'), config });
      expectHeld(await probe(server));
      expect(snapshot(outside)).toEqual(before);
      expect((await server.call('list_folder', { root: 'inside', path: '.' })).isError).toBe(false);
    },
  );

  test('cannot change a root that allows no changes', async () => {
    fs.writeFileSync(path.join(inside, 'secret.txt'), 'readable');
    const roots = [{ name: 'inside', path: inside, allowed_tools: ['read_file', 'grep', 'list_folder'] }];
    await using server = await startServer({ transport: 'stdio', roots, env: { ...broken(), PROBE_OUTSIDE: inside } });
    const { files } = await probe(server);
    for (const { read, list, 'read at once': reads = 'ok', ...changes } of Object.values(files)) {
      expect([read, list, reads]).toEqual(['ok', 'ok', 'ok']);
      expect(unique(changes)).not.toContain('ok');
    }
  });
});

suite(`Landlock at the start${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  test('the log and the banner say what is enforced', async () => {
    const config = writeConfig({
      host: '127.0.0.1',
      port: 0,
      roots: [{ name: 'a', path: inside, allowed_tools: ['*'] }],
    });
    const child = spawnRingfence(['serve', '--config', config]);
    const log = new ProcessLog(child);
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk;
    });
    const { landlock } = await log.waitFor(({ msg }) => msg === 'listening');
    expect(landlock).toEqual({ abi: expect.any(Number), rules: expect.any(Number), network: expect.any(Boolean) });
    child.kill();
    await once(child, 'close');
    expect(stdout).toMatch(/The kernel confines this process to these roots.*\(Landlock ABI \d+, \d+ rules\)\./);
  });

  test('works for a user without privileges', async (context) => {
    if (cannotDropPrivileges !== undefined) context.skip(cannotDropPrivileges);
    fs.chmodSync(base, 0o755);
    fs.chmodSync(inside, 0o777);
    const { stderr } = await runRingfence(['stdio', inside], {
      unprivileged: true,
      env: { RINGFENCE_LANDLOCK: 'require' },
    });
    expect(stderr).toContain('"landlock":{"abi":');
  });

  test.each([
    [
      'no kernel support',
      {},
      /^ringfence: RINGFENCE_LANDLOCK: Landlock is required but not enforced: the kernel does not offer it \(errno 38\)[^\n]*\n$/,
    ],
    ['io_uring', { UV_USE_IO_URING: '1' }, /^ringfence: RINGFENCE_LANDLOCK: [^\n]*UV_USE_IO_URING[^\n]*\n$/],
  ])('require refuses to start with %s, in one line, and auto says why it is not enforced', async (name, env, line) => {
    const program = name === 'io_uring' ? undefined : WITHOUT_LANDLOCK;
    const required = await runRingfence(['stdio', inside], { program, env: { ...env, RINGFENCE_LANDLOCK: 'require' } });
    expect(required).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(line) });
    const automatic = await runRingfence(['stdio', inside], { program, env });
    expect(automatic.code).toBe(0);
    expect(automatic.stderr).toContain('"landlock":"not enforced: ');
  });

  test('a mode that does not exist is an error with a hint', async () => {
    const { code, stderr } = await runRingfence(['stdio', inside], { env: { RINGFENCE_LANDLOCK: 'requires' } });
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^ringfence: RINGFENCE_LANDLOCK: must be one of .*require/),
    ]);
  });
});

/** The reason why this kernel cannot be tested; undefined if it can. */

/** The number of threads besides the main one that Node has before any script runs: V8's. */
function threadsOfNode(): number {
  const script = "process.stdout.write(String(require('node:fs').readdirSync('/proc/self/task').length - 1))";
  return Number(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }));
}

type Outcomes = Readonly<Record<string, string>>;

/** What a server with a broken fence could do: `ok`, or the code of the error. */
interface Probe {
  /** By thread. */
  readonly files: Readonly<Record<string, Outcomes>>;
  readonly child: Outcomes;
  readonly network: Outcomes;
  readonly unrestrictedThreads: number;
}

/** Makes a server with a broken fence try to get out. */
async function probe(server: Pick<TestServer, 'pid' | 'waitForLog'>): Promise<Probe> {
  process.kill(server.pid, 'SIGPWR');
  return (await server.waitForLog(({ msg }) => msg === 'probe')).outcomes;
}

function expectHeld({ files, child, network, unrestrictedThreads }: Probe): void {
  expect(Object.keys(files)).toEqual(['main', 'pool', 'worker', 'pool of the worker']);
  for (const outcomes of Object.values(files)) expectFilesHeld(outcomes);
  expect(unique({ child, network })).toEqual(['EACCES']);
  expect(unrestrictedThreads).toBe(threadsOfNode());
}

function expectFilesHeld({ link, 'move in': moveIn, 'move out': moveOut, ...others }: Outcomes): void {
  expect(unique(others)).toEqual(['EACCES']);
  // EXDEV is one more answer for a link or a rename between folders with different rights.
  for (const outcome of [link, moveIn, moveOut]) expect(outcome).toMatch(/^(EACCES|EXDEV)$/);
}

/** All values of nested objects, each once. */
function unique(outcomes: object): unknown[] {
  const flat = (value: unknown): unknown[] =>
    typeof value === 'object' && value !== null ? Object.values(value).flatMap(flat) : [value];
  return [...new Set(flat(outcomes))];
}

/** The names of all entries, and the content of files. */
function snapshot(folder: string): Record<string, string> {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const contentOf = (file: string) => (fs.statSync(file).isFile() ? fs.readFileSync(file, 'utf8') : '');
  return Object.fromEntries(names.map((name) => [name, contentOf(path.join(folder, name))]));
}

async function listen(): Promise<net.Server> {
  const server = net.createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function portOf(server: net.Server): number {
  return (server.address() as net.AddressInfo).port;
}
