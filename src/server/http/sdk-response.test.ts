import http, { type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { FairPool } from '../limits/fair-pool.ts';
import { HeldBytes } from '../limits/held-bytes.ts';
import { sendWebResponse } from './sdk-response.ts';

const PIECE = Buffer.alloc(1024 * 1024, 'x');
const PIECES = 30;
const server = http.createServer();

beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => void server.close(resolve)));

/** Answers one request with more than a socket takes at once, to a client that has not begun to read. */
async function answering() {
  let pulled = 0;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      pulled += 1;
      if (pulled > PIECES) controller.close();
      else controller.enqueue(PIECE);
    },
    cancel: () => {
      cancelled = true;
    },
  });
  const gone = new AbortController();
  const asked = new Promise<ServerResponse>((resolve) => server.once('request', (_, response) => resolve(response)));
  const { port } = server.address() as AddressInfo;
  const reading = new Promise<http.IncomingMessage>((resolve) =>
    http.get({ port, host: '127.0.0.1', agent: false }, resolve).on('error', () => {}),
  );
  const response = await asked;
  response.once('close', () => gone.abort());
  const listeners = (): number[] => ['drain', 'close', 'error'].map((event) => response.listenerCount(event));
  const before = listeners();
  const pool = new FairPool({ size: 1 });
  const sent = sendWebResponse(response, new Response(body), { signal: gone.signal, held: new HeldBytes(pool, 'c') });
  return { sent, pool, reader: await reading, before, listeners, pulled: () => pulled, cancelled: () => cancelled };
}

test('an answer goes out at the pace of the client, and leaves no listener on the way', async () => {
  const warn = vi.spyOn(process, 'emitWarning');
  const { sent, pool, reader, pulled, before, listeners } = await answering();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(pulled()).toBeLessThan(PIECES);
  // What is written and not read yet counts as held.
  expect(pool.total).toBe(PIECE.length);
  let most = 0;
  let size = 0;
  for await (const chunk of reader) {
    size += chunk.length;
    most = Math.max(most, ...listeners().map((count, index) => count - (before[index] ?? 0)));
  }
  await sent;
  expect(size).toBe(PIECES * PIECE.length);
  expect(pool.total).toBe(0);
  expect(most).toBeLessThanOrEqual(1);
  expect(warn.mock.calls).toEqual([]);
});

test('a client that goes away meanwhile ends it', async () => {
  const { sent, reader, cancelled } = await answering();
  reader.destroy();
  await sent;
  expect(cancelled()).toBe(true);
});

test('the headers of a stream are sent before its first event', async () => {
  const asked = new Promise<ServerResponse>((resolve) => server.once('request', (_, response) => resolve(response)));
  const { port } = server.address() as AddressInfo;
  const opened = new Promise<http.IncomingMessage>((resolve) =>
    http.get({ port, host: '127.0.0.1', agent: false }, resolve).on('error', () => {}),
  );
  const gone = new AbortController();
  const headers = { 'content-type': 'text/event-stream' };
  const sent = sendWebResponse(await asked, new Response(new ReadableStream(), { headers }), {
    signal: gone.signal,
    held: new HeldBytes(new FairPool({ size: 1 }), 'c'),
  });
  const reader = await opened;
  expect(reader.headers).toMatchObject(headers);
  reader.destroy();
  gone.abort();
  await sent;
});
