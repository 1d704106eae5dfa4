import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { recordFigure } from '../support/figures.ts';
import { RawClient } from '../support/raw-client.ts';
import { ProcessLog, runRingfence, spawnRingfence } from '../support/ringfence-process.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const dir = tempDir('ringfence-processes-');
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));
fs.writeFileSync(path.join(dir, 'a.txt'), 'hello\n');
const roots = [{ name: 'r', path: dir }];
const read = { root: 'r', path: 'a.txt' };

function start(processes: number, config: object = {}): Promise<TestServer> {
  return startServer({ roots, processes, era: 'modern', config: { request_timeout: 300, ...config } });
}

/** Starts clients that call without a pause until they are told to end, each on a connection that it keeps. */
function callWithoutPause({ url }: TestServer, count: number): { end(): Promise<number>; readonly failures: string[] } {
  const failures: string[] = [];
  let isOver = false;
  const clients = Array.from({ length: count }, async () => {
    const client = new RawClient(url);
    let calls = 0;
    while (!isOver) {
      await client.call('read_file', read).catch((error: unknown) => failures.push(String(error)));
      calls += 1;
    }
    client.close();
    return calls;
  });
  return {
    failures,
    end: async () => {
      isOver = true;
      return (await Promise.all(clients)).reduce((sum, calls) => sum + calls, 0);
    },
  };
}

const workersIn = (server: TestServer) =>
  new Set(server.logs().flatMap(({ worker, tool }) => (worker && tool ? [worker] : [])));

describe('several processes', () => {
  test('share one port, one banner and one log, and all of them answer', async () => {
    await using server = await start(3, { log_level: 'debug' });
    expect(server.workers()).toHaveLength(3);
    const clients = Array.from({ length: 6 }, () => new RawClient(server.url));
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(clients.map((client) => client.call('read_file', read)));
    }
    for (const client of clients) client.close();
    await expect.poll(() => [...workersIn(server)].sort()).toEqual([1, 2, 3]);
    const lines = server.logs();
    expect(lines.filter(({ msg }) => msg === 'listening')).toMatchObject([{ processes: 3, roots: ['r'] }]);
    expect(await server.stop()).toBe(0);
    expect(server.logs().at(-1)).toMatchObject({ msg: 'stopped' });
    expect(server.logs().at(-1)?.worker).toBeUndefined();
  });

  test('print one banner', async () => {
    const child = spawnRingfence(['serve', dir, '--port', '0', '--processes', '2']);
    const log = new ProcessLog(child);
    let banner = '';
    child.stdout.on('data', (chunk) => {
      banner += chunk;
    });
    await log.waitFor(({ msg }) => msg === 'listening');
    child.kill();
    await once(child, 'close');
    expect(banner.match(/is serving MCP at/g)).toHaveLength(1);
  });

  test.each(['0', '-1', '129', 'many', '1.5', ''])('--processes %j is refused', async (written) => {
    const { code, stderr } = await runRingfence(['serve', dir, '--port', '0', `--processes=${written}`]);
    expect(code).toBe(2);
    expect(stderr).toBe(
      `ringfence: --processes: must be an integer from 1 to 128, or auto, got ${JSON.stringify(written)}\n`,
    );
  });

  test('a port in use is one line, as with one process', async () => {
    await using server = await start(2);
    const { port } = new URL(server.url);
    const { code, stderr } = await runRingfence(['serve', dir, '--port', port, '--processes', '2']);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `ringfence: --port: port ${port} on 127.0.0.1 is already in use; stop what uses it or choose another\n`,
    });
  });

  test('lines of several processes are never mixed, however long and many they are', async () => {
    await using server = await start(3, { log_level: 'debug' });
    const long = `${'x'.repeat(3_000)}.txt`;
    const clients = Array.from({ length: 9 }, () => new RawClient(server.url));
    const calls = clients.flatMap((client) =>
      Array.from({ length: 60 }, () => client.call('read_file', { root: 'r', path: long }).catch(() => {})),
    );
    await Promise.all(calls);
    for (const client of clients) client.close();
    await server.stop();
    const lines = server.stderr().trimEnd().split('\n');
    expect(lines.every((line) => line.startsWith('{"level"') && JSON.parse(line))).toBe(true);
    expect(lines.filter((line) => line.includes('"read_file"')).length).toBeGreaterThanOrEqual(calls.length);
  });
});

describe('a worker that dies', () => {
  test('is replaced, and only what it was doing is lost', async () => {
    await using server = await start(2);
    const [first = 0, second = 0] = server.workers();
    process.kill(first, 'SIGKILL');
    const ended = await server.waitForLog(({ msg }) => msg === 'a worker has ended; another one takes its place');
    expect(ended).toMatchObject({ level: 'error', how: 'by SIGKILL' });
    await expect.poll(() => server.workers().length, { timeout: 15_000 }).toBe(2);
    expect(server.workers()).toContain(second);
    expect(server.workers()).not.toContain(first);
    process.kill(second, 'SIGKILL');
    const client = new RawClient(server.url);
    expect((await client.call('read_file', read)).content).toBe('hello\n');
    client.close();
  });

  test('all of them at once: connections wait for the next one', async () => {
    await using server = await start(2);
    for (const pid of server.workers()) process.kill(pid, 'SIGKILL');
    await server.waitForLog(({ msg }) => msg === 'a worker has ended; another one takes its place');
    const client = new RawClient(server.url);
    expect((await client.call('read_file', read)).content).toBe('hello\n');
    client.close();
  });

  test('all of them at once, again and again, however many they are: those that have served are always replaced', async () => {
    await using server = await start(5);
    for (let round = 0; round < 4; round += 1) {
      for (const pid of server.workers()) process.kill(pid, 'SIGKILL');
      const client = new RawClient(server.url);
      expect((await client.call('read_file', read)).content).toBe('hello\n');
      client.close();
    }
    await expect.poll(() => server.workers().length, { timeout: 15_000 }).toBe(5);
  });

  test('one that is told to end by SIGTERM is replaced, and no call fails', async () => {
    await using server = await start(2);
    const load = callWithoutPause(server, 6);
    const [first = 0] = server.workers();
    await later(200);
    process.kill(first, 'SIGTERM');
    // Its clients have gone to the other one before the next one, which has number 3, takes connections.
    const callOnce = async (): Promise<boolean> => {
      const client = new RawClient(server.url);
      await client.call('read_file', read);
      client.close();
      return workersIn(server).has(3);
    };
    await expect.poll(callOnce, { timeout: 20_000 }).toBe(true);
    expect(await load.end()).toBeGreaterThan(6);
    expect(load.failures).toEqual([]);
  });

  test('again and again at its start: tried with longer and longer pauses, then given up in one line', async () => {
    const program = path.join(tempDir('ringfence-broken-'), 'broken.cjs');
    fs.writeFileSync(program, 'if (process.send !== undefined) process.exit(3);');
    const { code, stderr } = await runRingfence(['serve', dir, '--port', '0', '--processes', '2'], {
      // The kernel would keep workers from reading it.
      env: { NODE_OPTIONS: `--require ${program}`, RINGFENCE_LANDLOCK: 'off' },
    });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(
      'ringfence: 5 workers ended one after another before they served, the last with code 3',
    );
  });

  test('because of what the config says: that is one line, and nothing is tried again', async () => {
    const folder = tempDir('ringfence-no-history-');
    fs.writeFileSync(path.join(folder, '.ringfence'), 'not a folder');
    const { code, stderr } = await runRingfence(['serve', folder, '--history', '--port', '0', '--processes', '2']);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^ringfence: .*: the history of root .* cannot be opened: .ringfence in it is not a folder.*\n$/,
    );
  });
});

describe('the end', () => {
  test('SIGTERM lets all processes finish their calls', async () => {
    const big = path.join(dir, 'seconds.bin');
    fs.writeFileSync(big, '');
    fs.truncateSync(big, 128 * 1024 ** 2);
    await using server = await start(2, { log_level: 'debug' });
    const clients = Array.from({ length: 4 }, () => new RawClient(server.url));
    for (const client of clients) await client.call('read_file', read);
    const hashes = clients.map((client) =>
      client.call('hash_file', { root: 'r', path: 'seconds.bin', algorithm: 'sha256' }),
    );
    await later(100);
    const exit = server.stop('SIGTERM');
    const sizes = (await Promise.all(hashes)).map(({ size }) => size);
    expect(sizes).toEqual([1, 1, 1, 1].map((n) => n * 128 * 1024 ** 2));
    expect(await exit).toBe(0);
    for (const client of clients) client.close();
  });

  test('workers end if their parent is killed', async () => {
    const server = await start(2);
    const workers = server.workers();
    await server.stop('SIGKILL');
    const isAlive = (pid: number): boolean => {
      try {
        return process.kill(pid, 0);
      } catch {
        return false;
      }
    };
    await expect.poll(() => workers.some(isAlive), { timeout: 15_000 }).toBe(false);
    await server[Symbol.asyncDispose]();
  });

  test('a second signal does not wait', async () => {
    fs.writeFileSync(path.join(dir, 'minutes.bin'), '');
    fs.truncateSync(path.join(dir, 'minutes.bin'), 512 * 1024 ** 3);
    await using server = await start(2);
    const workers = server.workers();
    const client = new RawClient(server.url);
    onTestFinished(() => client.close());
    client.call('hash_file', { root: 'r', path: 'minutes.bin', algorithm: 'sha256' }).catch(() => {});
    await later(300);
    const exit = server.stop('SIGTERM');
    await server.waitForLog(({ msg, worker }) => msg === 'stopping' && worker === undefined);
    server.signal('SIGTERM');
    expect(await exit).toBe(1);
    expect(workers.length).toBe(2);
  });
});

describe('SIGHUP', () => {
  test('replaces all processes one by one without a failed call', async () => {
    await using server = await start(2, { log_level: 'debug' });
    const former = server.workers();
    const load = callWithoutPause(server, 12);
    await later(300);
    server.signal('SIGHUP');
    await server.waitForLog(({ msg }) => msg === 'all workers are replaced');
    // A former one stays only for connections on which nothing is asked.
    const busy = async (): Promise<unknown[]> => {
      const since = server.logs().length;
      await later(400);
      const lines = server.logs().slice(since);
      return [...new Set(lines.flatMap(({ worker, tool }) => (tool ? [worker] : [])))].sort();
    };
    await expect.poll(busy, { timeout: 15_000 }).toEqual([3, 4]);
    expect(server.workers().filter((pid) => !former.includes(pid))).toHaveLength(2);
    const calls = await load.end();
    recordFigure('processes replaced under load: calls', calls, 'calls');
    recordFigure('processes replaced under load: failed', load.failures.length, 'calls');
    expect(load.failures).toEqual([]);
    expect(calls).toBeGreaterThan(24);
  });

  test('one that dies meanwhile is replaced once', async () => {
    await using server = await start(2);
    const former = server.workers();
    server.signal('SIGHUP');
    // While the first of the new ones starts.
    await expect.poll(() => server.workers().length, { interval: 5 }).toBe(3);
    process.kill(former[1] ?? 0, 'SIGKILL');
    await server.waitForLog(({ msg }) => msg === 'all workers are replaced');
    await server.client.close();
    const news = (): number[] => server.workers().filter((pid) => !former.includes(pid));
    await expect.poll(() => news().length).toBe(2);
    await later(500);
    expect(news()).toHaveLength(2);
  });

  test('a config that is not valid is one line, and the processes stay', async () => {
    await using server = await start(2);
    const former = server.workers();
    fs.writeFileSync(server.config, 'rots: []\n');
    server.signal('SIGHUP');
    const line = await server.waitForLog(({ level, problem }) => level === 'error' && problem !== undefined);
    expect(line.problem).toContain('rots');
    expect(server.workers()).toEqual(former);
    const client = new RawClient(server.url);
    expect((await client.call('read_file', read)).content).toBe('hello\n');
    client.close();
  });
});
