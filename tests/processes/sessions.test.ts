import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { openSession, post, readInSession as read } from './session-posts.ts';

async function start(config: object = {}): Promise<TestServer> {
  const dir = tempDir('ringfence-process-sessions-');
  fs.writeFileSync(path.join(dir, 'a.txt'), 'hello\n');
  return startServer({ roots: [{ name: 'r', path: dir }], processes: 3, config: { log_level: 'debug', ...config } });
}

const workersOf = (server: TestServer) =>
  new Set(server.logs().flatMap(({ worker, tool }) => (tool === 'read_file' ? [worker] : [])));

test('a session is served by every process', async () => {
  await using server = await start();
  const session = await openSession(server);
  for (let id = 2; id < 20; id += 1) {
    const answer = await post(server, read(id), session);
    expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('hello') });
  }
  await expect.poll(() => workersOf(server).size).toBe(3);
});

test('sessions live on when processes die or are replaced', async () => {
  await using server = await start();
  const sessions = await Promise.all(Array.from({ length: 4 }, () => openSession(server)));
  for (const pid of server.workers()) process.kill(pid, 'SIGKILL');
  await server.waitForLog(({ msg }) => msg === 'a worker has ended; another one takes its place');
  for (const session of sessions) expect((await post(server, read(2), session)).status).toBe(200);
  server.signal('SIGHUP');
  await server.waitForLog(({ msg }) => msg === 'all workers are replaced');
  for (const session of sessions) expect((await post(server, read(3), session)).status).toBe(200);
});

test('a session that was ended is ended for every process, and one of another server is unknown', async () => {
  await using server = await start();
  await using other = await start();
  const [session, foreign] = [await openSession(server), await openSession(other)];
  expect((await post(server, {}, session, { method: 'DELETE' })).status).toBeLessThan(300);
  for (let id = 2; id < 8; id += 1) expect((await post(server, read(id), session)).status).toBe(404);
  for (let id = 2; id < 8; id += 1) expect((await post(server, read(id), foreign)).status).toBe(404);
});
test('the rate limit is common to all processes', async () => {
  await using server = await start({ rate_limit: { calls_per_second: 0.01, burst: 8 } });
  const session = await openSession(server);
  const texts = await Promise.all(
    Array.from({ length: 20 }, async (_, id) => (await post(server, read(id + 2), session)).text),
  );
  const done = texts.filter((text) => text.includes('hello')).length;
  // What opens the sessions counts as well.
  expect(done).toBeGreaterThan(0);
  expect(done).toBeLessThanOrEqual(8);
});
