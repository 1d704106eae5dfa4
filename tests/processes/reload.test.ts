import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { recordFigure } from '../support/figures.ts';
import { RawClient } from '../support/raw-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { CeaselessCalls, KeptConnections } from './ceaseless-calls.ts';
import { openSession, post, readInSession } from './session-posts.ts';

const dir = tempDir('ringfence-reload-');
fs.writeFileSync(path.join(dir, 'a.txt'), 'hello\n');
const read = { root: 'r', path: 'a.txt' };

function start(processes: number, config: object = {}): Promise<TestServer> {
  const roots = [{ name: 'r', path: dir }];
  return startServer({ roots, processes, era: 'modern', config: { request_timeout: 300, ...config } });
}

/** The numbers of the processes that are called at this time. */
async function busyIn(server: TestServer): Promise<unknown[]> {
  const since = server.logs().length;
  await later(400);
  const lines = server.logs().slice(since);
  return [...new Set(lines.flatMap(({ worker, tool }) => (tool ? [worker] : [])))].sort();
}

test('SIGHUP replaces all processes one by one without a failed call', async () => {
  await using server = await start(2, { log_level: 'debug' });
  const former = server.workers();
  const load = new KeptConnections(server, 12);
  await later(300);
  server.signal('SIGHUP');
  await server.waitForLog(({ msg }) => msg === 'all workers are replaced');
  // A former one stays only for connections on which nothing is asked.
  await expect.poll(() => busyIn(server), { timeout: 15_000 }).toEqual([3, 4]);
  expect(server.workers().filter((pid) => !former.includes(pid))).toHaveLength(2);
  const calls = await load.end();
  recordFigure('processes replaced under load: calls', calls, 'calls');
  recordFigure('processes replaced under load: failed', load.failures.length, 'calls');
  expect(load.failures).toEqual([]);
  expect(calls).toBeGreaterThan(24);
});

test('clients with sessions of 2025 that keep their connections move to the new processes, without a failed call', async () => {
  await using server = await start(2, { log_level: 'debug' });
  const agents = Array.from({ length: 4 }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }));
  const sessions = await Promise.all(agents.map(async (agent) => ({ agent, id: await openSession(server, agent) })));
  const listTools = { id: 3, method: 'tools/list' };
  const callers = sessions.map(({ agent, id }) => async (): Promise<void> => {
    for (const message of [readInSession(2), listTools]) {
      const { status, text } = await post(server, message, id, { agent });
      if (status !== 200 || !/hello|read_file/.test(text)) throw new Error(`${status} ${text}`);
    }
  });
  const load = new CeaselessCalls(callers);
  await later(300);
  server.signal('SIGHUP');
  await server.waitForLog(({ msg }) => msg === 'all workers are replaced');
  // Much sooner than the former ones give up waiting for their connections.
  await expect.poll(() => busyIn(server), { timeout: 15_000 }).toEqual([3, 4]);
  const calls = await load.end();
  for (const agent of agents) agent.destroy();
  expect(load.failures).toEqual([]);
  expect(calls).toBeGreaterThan(8);
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

test('keys that need a restart are named in one line, and the rest is applied', async () => {
  await using server = await start(2);
  const config = parse(fs.readFileSync(server.config, 'utf8'));
  const log = path.join(tempDir('ringfence-log-'), 'log');
  fs.writeFileSync(server.config, JSON.stringify({ ...config, port: 1, log_file: log, log_level: 'debug' }));
  server.signal('SIGHUP');
  const { keys } = await server.waitForLog(({ msg }) => msg === 'config keys need a restart');
  expect(keys.sort()).toEqual(['log_file', 'port']);
  const client = new RawClient(server.url);
  expect((await client.call('read_file', read)).content).toBe('hello\n');
  client.close();
});

test('SIGHUP fails no call: on new connections, writes, in sessions of 2025, and such that take seconds', async () => {
  fs.writeFileSync(path.join(dir, 'seconds.bin'), '');
  fs.truncateSync(path.join(dir, 'seconds.bin'), 1.5 * 1024 ** 3);
  await using server = await start(2, { log_level: 'debug' });
  const { url } = server;
  const sessions = [await openSession(server), await openSession(server)];
  const onNewConnection = async (): Promise<void> => {
    const client = new RawClient(url);
    await client.call('read_file', read);
    client.close();
  };
  const writers = [1, 2].map((number) => {
    const client = new RawClient(url);
    let written = 0;
    return async (): Promise<void> => {
      written += 1;
      const at = { root: 'r', path: `w${number}.txt` };
      await client.call('write_file', { ...at, content: `${written}`, mode: 'overwrite' });
      const { content } = await client.call('read_file', at);
      if (content !== `${written}`) throw new Error(`wrote ${written}, read ${content}`);
    };
  });
  const inSessions = sessions.map((session) => async (): Promise<void> => {
    const { status, text } = await post(server, readInSession(2), session);
    if (status !== 200 || !text.includes('hello')) throw new Error(`${status} ${text}`);
  });
  const long = [1, 2].map(async () => {
    const client = new RawClient(url);
    const { size } = await client.call('hash_file', { root: 'r', path: 'seconds.bin', algorithm: 'sha256' });
    client.close();
    return size;
  });
  const load = new CeaselessCalls([onNewConnection, onNewConnection, ...writers, ...inSessions]);
  await later(300);
  server.signal('SIGHUP');
  await server.waitForLog(({ msg }) => msg === 'all workers are replaced');
  await later(500);
  const calls = await load.end();
  recordFigure('processes replaced under mixed load: failed', load.failures.length, 'calls');
  expect(load.failures).toEqual([]);
  expect(calls).toBeGreaterThan(12);
  expect(await Promise.all(long)).toEqual([1.5 * 1024 ** 3, 1.5 * 1024 ** 3]);
  const hashes = () => server.logs().filter(({ tool }) => tool === 'hash_file');
  await expect.poll(() => hashes().length).toBe(2);
  const firstOfNext = server.logs().find(({ worker, tool }) => worker === 3 && tool !== undefined);
  // They were begun before their process was replaced, and went on.
  expect(hashes().map(({ worker }) => worker <= 2)).toEqual([true, true]);
  expect(hashes().map(({ time }) => time > firstOfNext?.time)).toEqual([true, true]);
});

test('SIGTERM during a reload is no error', async () => {
  await using server = await start(2);
  server.signal('SIGHUP');
  // While the first of the new ones starts.
  await expect.poll(() => server.workers().length, { interval: 5 }).toBe(3);
  expect(await server.stop('SIGTERM')).toBe(0);
  expect(server.logs().filter(({ level }) => level === 'error')).toEqual([]);
  expect(server.logs().filter(({ msg }) => msg === 'all workers are replaced')).toEqual([]);
});
