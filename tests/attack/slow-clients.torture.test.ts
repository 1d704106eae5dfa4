import fs from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, connectMany, jsonHeaders, rawCall, rawHead } from '../support/attack.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

/** How many connections do not read their answers. */
const STALLED = 10;

const dir = tempDir();
let rf: TestServer;
beforeAll(async () => {
  fs.writeFileSync(path.join(dir, 'megabyte.txt'), 'All work and no play.\n'.repeat(47_000));
  rf = await startServer({ roots: [{ name: 'r', path: dir }], config: { max_full_read_size: 4_000_000 } });
});
afterAll(async () => {
  await rf[Symbol.asyncDispose]();
  fs.rmSync(dir, { recursive: true, force: true });
});

/** Waits until the server has closed a connection, and returns how many seconds that took. */
async function secondsUntilClosed(socket: Awaited<ReturnType<typeof connect>>): Promise<number> {
  const began = performance.now();
  await new Promise((resolve) => socket.once('close', resolve));
  return (performance.now() - began) / 1000;
}

test.concurrent('headers that never end: closed after 20 to 30 s', async () => {
  const socket = await connect({ url: rf.url });
  socket.resume();
  socket.write('POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\n');
  const drip = setInterval(() => socket.write('x-slow: 1\r\n'), 1_000);
  const seconds = await secondsUntilClosed(socket);
  clearInterval(drip);
  console.info(`headers that never end: closed after ${seconds.toFixed(0)} s`);
  expect(seconds).toBeGreaterThan(15);
  expect(seconds).toBeLessThan(30);
});

test.concurrent('a body that never ends: closed after 60 to 70 s', async () => {
  const socket = await connect({ url: rf.url });
  socket.resume();
  socket.write(rawHead(rf.url, { ...jsonHeaders(), 'content-length': 1_000_000 }));
  const drip = setInterval(() => socket.write('x'), 1_000);
  const seconds = await secondsUntilClosed(socket);
  clearInterval(drip);
  console.info(`a body that never ends: closed after ${seconds.toFixed(0)} s`);
  expect(seconds).toBeGreaterThan(50);
  expect(seconds).toBeLessThan(75);
});

test.concurrent('answers that are never read: closed after 15 to 30 s', async () => {
  const sockets = await connectMany({ url: rf.url }, STALLED);
  const call = rawCall({ url: rf.url }, 'read_file', { root: 'r', path: 'megabyte.txt' });
  for (const socket of sockets) for (let count = 0; count < 20; count += 1) socket.write(call);
  // Whoever does not read does not notice either: the server tells, by its descriptors.
  const open = () => fs.readdirSync(`/proc/${rf.pid}/fd`).length;
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const before = open();
  await new Promise((resolve) => setTimeout(resolve, 45_000));
  expect(open()).toBeLessThanOrEqual(before - STALLED);
  for (const socket of sockets) socket.destroy();
});
