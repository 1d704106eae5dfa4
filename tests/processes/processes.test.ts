import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { RawClient } from '../support/raw-client.ts';
import { ProcessLog, runRingfence, spawnRingfence, writeConfig } from '../support/ringfence-process.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { CeaselessCalls, KeptConnections } from './ceaseless-calls.ts';

const dir = tempDir('ringfence-processes-');
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));
fs.writeFileSync(path.join(dir, 'a.txt'), 'hello\n');
const roots = [{ name: 'r', path: dir }];
const read = { root: 'r', path: 'a.txt' };

function start(processes: number, config: object = {}): Promise<TestServer> {
  return startServer({ roots, processes, era: 'modern', config: { request_timeout: 300, ...config } });
}

/**
 * Lets the parent wait for a while until the kernel has confined its threads, which it does once the port is open. A
 * URL, because confined workers read no file for it.
 */
const SLOWLY_CONFINED = `data:text/javascript,${encodeURIComponent(`
import Module from 'node:module';
const { _load } = Module;
const slowly = (call) => {
  const slow = (...args) => call(...args);
  slow.async = (...args) => call.async(...args.slice(0, -1), (...answer) => setTimeout(args.at(-1), 300, ...answer));
  return slow;
};
const slow = (library) => ({
  func: (declaration) =>
    declaration.includes('uint32_t flags') ? slowly(library.func(declaration)) : library.func(declaration),
});
Module._load = (request, ...rest) => {
  const loaded = _load(request, ...rest);
  if (process.send !== undefined || !request.startsWith('@koromix/')) return loaded;
  return { ...loaded, load: (name) => slow(loaded.load(name)) };
};
`)}`;

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Asks for /health on a new connection, with as little work as possible; resolves with undefined if nobody listens. */
function healthOver(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    let answer: string | undefined;
    socket.on('connect', () => {
      answer = '';
      socket.write('GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
    });
    socket.on('data', (chunk) => {
      answer += String(chunk);
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer));
  });
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

  test('print one banner, which names no console, because none is served', async () => {
    const tokens = [{ name: 't', sha256: '0'.repeat(64), roots: ['r'], console: true }];
    const config = writeConfig({
      port: 0,
      console: { enabled: true },
      auth: { tokens },
      roots: [{ name: 'r', path: dir, allowed_tools: ['*'] }],
    });
    const child = spawnRingfence(['serve', '--config', config, '--processes', '2']);
    const log = new ProcessLog(child);
    let banner = '';
    child.stdout.on('data', (chunk) => {
      banner += chunk;
    });
    await log.waitFor(({ msg }) => msg === 'listening');
    child.kill();
    await once(child, 'close');
    expect(banner.match(/is serving MCP at/g)).toHaveLength(1);
    expect(banner).not.toContain('/console');
  });

  test.each(['0', '-1', '129', 'many', '1.5', ''])('--processes %j is refused', async (written) => {
    const { code, stderr } = await runRingfence(['serve', dir, '--port', '0', `--processes=${written}`]);
    expect(code).toBe(2);
    expect(stderr).toBe(
      `ringfence: --processes: must be an integer from 1 to 128, or auto, got ${JSON.stringify(written)}\n`,
    );
  });

  test('clients that connect before the first of them serves are answered', async () => {
    const port = await freePort();
    const child = spawnRingfence(['serve', dir, '--port', `${port}`, '--processes', '2'], {
      env: { NODE_OPTIONS: `--import=${SLOWLY_CONFINED}` },
    });
    onTestFinished(() => void child.kill());
    const log = new ProcessLog(child);
    let isListening = false;
    const listening = log
      .waitFor(({ msg }) => msg === 'listening')
      .finally(() => {
        isListening = true;
      });
    const answers: string[] = [];
    const connect = async (): Promise<void> => {
      while (!isListening) {
        const answer = await healthOver(port);
        if (answer !== undefined) answers.push(answer);
      }
    };
    const connecting = Array.from({ length: 16 }, connect);
    await listening;
    await Promise.all(connecting);
    expect(answers.length).toBeGreaterThan(0);
    expect(answers.filter((answer) => !answer.startsWith('HTTP/1.1 200'))).toEqual([]);
    expect(child.exitCode).toBeNull();
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
    const load = new KeptConnections(server, 6);
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

  test('by SIGTERM, one after another, while clients connect: no call fails', { timeout: 60_000 }, async () => {
    await using server = await start(2);
    const connect = async (): Promise<void> => {
      const client = new RawClient(server.url);
      await client.call('read_file', read).finally(() => client.close());
    };
    const load = new CeaselessCalls(Array.from({ length: 6 }, () => connect));
    for (let round = 0; round < 4; round += 1) {
      const before = server.workers();
      process.kill(before.at(-1) ?? 0, 'SIGTERM');
      await expect
        .poll(() => server.workers().filter((pid) => !before.includes(pid)), { timeout: 15_000 })
        .toHaveLength(1);
      // The former one leaves when the new one serves.
      await later(1_500);
    }
    expect(await load.end()).toBeGreaterThan(100);
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
    const bytes = 256 * 1024 ** 2;
    const big = path.join(dir, 'seconds.bin');
    fs.writeFileSync(big, '');
    fs.truncateSync(big, bytes);
    await using server = await start(2, { log_level: 'debug' });
    const clients = Array.from({ length: 4 }, () => new RawClient(server.url));
    for (const client of clients) await client.call('read_file', read);
    const hashes = clients.map((client) =>
      client.call('hash_file', { root: 'r', path: 'seconds.bin', algorithm: 'sha256' }),
    );
    await later(100);
    const exit = server.stop('SIGTERM');
    expect((await Promise.all(hashes)).map(({ size }) => size)).toEqual([bytes, bytes, bytes, bytes]);
    expect(await exit).toBe(0);
    for (const client of clients) client.close();
    // Else they would have ended without the grace time.
    const lines = server.logs();
    const stopping = lines.find(({ msg, worker }) => msg === 'stopping' && worker === undefined);
    const ends = lines.filter(({ tool }) => tool === 'hash_file').map(({ time }) => time > stopping?.time);
    expect(ends).toEqual([true, true, true, true]);
  });

  test('workers end if their parent is killed', async () => {
    const server = await start(2);
    const workers = server.workers();
    await server.stop('SIGKILL');
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
    expect(workers).toHaveLength(2);
    // Much sooner than the grace time is over.
    await expect.poll(() => workers.filter(isAlive), { timeout: 4_000 }).toEqual([]);
  });
});
