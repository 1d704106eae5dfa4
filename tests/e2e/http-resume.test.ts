import { createHash } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EventStreamClient, type SentEvent } from '../support/event-stream.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { connectHttp, httpTransport } from '../support/tool-client.ts';

const NEWEST = '2025-11-25';
const TOKENS = { one: 'the-first-token-of-this-test', other: 'the-other-token-of-this-test' };
const dir = tempDir();
let rf: TestServer;

beforeAll(async () => {
  fs.writeFileSync(path.join(dir, 'large.txt'), 'x'.repeat(900_000));
  // Sparse, so that hashing it takes seconds, and making it none.
  fs.writeFileSync(path.join(dir, 'seconds.bin'), '');
  fs.truncateSync(path.join(dir, 'seconds.bin'), 1_000_000_000);
  const tokens = Object.entries(TOKENS).map(([name, token]) => ({
    name,
    sha256: createHash('sha256').update(token).digest('hex'),
    roots: ['r'],
  }));
  rf = await startServer({ roots: [{ name: 'r', path: dir }], config: { auth: { tokens } }, token: TOKENS.one });
});

afterAll(async () => {
  await rf[Symbol.asyncDispose]();
  fs.rmSync(dir, { recursive: true, force: true });
});

type Headers = Record<string, string>;

/** Opens a session and returns the headers of its requests. */
async function session(version: string = NEWEST, token = TOKENS.one): Promise<Headers> {
  const authorization = `Bearer ${token}`;
  const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '0' } };
  const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  using opened = await EventStreamClient.open(rf.url, { headers: { authorization }, message });
  await opened.rest();
  return { authorization, 'mcp-session-id': String(opened.headers['mcp-session-id']), 'mcp-protocol-version': version };
}

function call(headers: Headers, name: string, args: Record<string, unknown>, meta?: Record<string, unknown>) {
  const params = { name, arguments: { root: 'r', ...args }, ...(meta && { _meta: meta }) };
  return EventStreamClient.open(rf.url, { headers, message: { jsonrpc: '2.0', id: 7, method: 'tools/call', params } });
}

function resume(headers: Headers, lastEventId: string): Promise<EventStreamClient> {
  return EventStreamClient.open(rf.url, { method: 'GET', headers: { ...headers, 'last-event-id': lastEventId } });
}

const hashSlowly = (headers: Headers) =>
  call(headers, 'hash_file', { path: 'seconds.bin', algorithm: 'sha256' }, { progressToken: 'p' });
const resultOf = (event: SentEvent | undefined) => JSON.parse(event?.data || '{}').result?.structuredContent;

/** Who writes the events: the SDK is left every request whose content type is not the plain one. */
const WRITERS: readonly [string, Headers][] = [
  ['the fast path', {}],
  ['the SDK', { 'content-type': 'application/json; charset=utf-8' }],
];

describe.each(WRITERS)('an event stream of %s', (_, writer) => {
  test('begins with an id and a time to wait, and every event has an id of its own', async () => {
    using stream = await call({ ...(await session()), ...writer }, 'list_folder', { path: '' });
    const [priming, result, ...more] = await stream.rest();
    expect([priming?.data, priming?.retry, more]).toEqual(['', '1000', []]);
    expect(resultOf(result).count).toBe(2);
    expect(priming?.id).toMatch(/^\d+-\d+$/);
    expect(result?.id).toMatch(/^\d+-\d+$/);
    expect(result?.id).not.toBe(priming?.id);
  });

  test('has no event without data for clients that cannot read one', async () => {
    using stream = await call({ ...(await session('2025-06-18')), ...writer }, 'list_folder', { path: '' });
    const events = await stream.rest();
    expect(events.map(({ id, data }) => [id !== '', data !== ''])).toEqual([[true, true]]);
  });

  test('that broke while the call was running goes on where it was', async () => {
    const headers = { ...(await session()), ...writer };
    const broken = await hashSlowly(headers);
    const seen = [await broken.next(), await broken.next()];
    broken[Symbol.dispose]();
    using resumed = await resume(headers, seen[1]?.id ?? '');
    expect([resumed.status, resumed.headers['content-type']]).toEqual([200, 'text/event-stream']);
    const events = await resumed.rest();
    expect(resultOf(events.at(-1))).toMatchObject({
      path: 'seconds.bin',
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const ids = [...seen, ...events].flatMap((event) => (event?.id ? [event.id] : []));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('whose result was lost on the way gets it again, as often as it asks', async () => {
    const headers = { ...(await session()), ...writer };
    const broken = await call(headers, 'read_file', { path: 'large.txt' });
    const priming = await broken.next();
    broken[Symbol.dispose]();
    for (let turn = 0; turn < 2; turn += 1) {
      using resumed = await resume(headers, priming?.id ?? '');
      const [result, ...more] = await resumed.rest().then((events) => events.filter(({ data }) => data !== ''));
      expect([resultOf(result).content.length, more]).toEqual([900_000, []]);
      using afterwards = await resume(headers, result?.id ?? '');
      expect((await afterwards.rest()).filter(({ data }) => data !== '')).toEqual([]);
    }
  });

  test('whose short result was lost gets the same bytes again, in any script', async () => {
    const headers = { ...(await session()), ...writer };
    using first = await call(headers, 'read_file', { path: 'größe 漢 😀' });
    const [priming, result] = await first.rest();
    using resumed = await resume(headers, priming?.id ?? '');
    expect((await resumed.rest()).filter(({ data }) => data !== '')).toEqual([result]);
    expect(result?.data).toContain('größe 漢 😀');
  });

  test('is closed to another token, another session and after the session', async () => {
    const headers = { ...(await session()), ...writer };
    using stream = await call(headers, 'read_file', { path: 'large.txt' });
    const id = (await stream.next())?.id ?? '';
    await stream.rest();
    const foreign = { ...headers, authorization: `Bearer ${TOKENS.other}` };
    using refused = await resume(foreign, id);
    expect([refused.status, await refused.body()]).toEqual([404, expect.stringContaining('Session not found')]);
    using elsewhere = await resume(await session(NEWEST, TOKENS.other), id);
    const answer = await elsewhere.body();
    expect(answer).not.toContain('xxx');
    expect([elsewhere.status, answer]).toEqual([400, expect.stringContaining('Last-Event-ID')]);
    using ended = await fetch(rf.url, { method: 'DELETE', headers }).then(() => resume(headers, id));
    expect(ended.status).toBe(404);
  });
});

test('a client that connects again before the server sees that it was gone takes the stream over', async () => {
  const headers = await session();
  using first = await hashSlowly(headers);
  const seen = await first.next();
  using second = await resume(headers, seen?.id ?? '');
  const [before, after] = await Promise.all([first.rest(), second.rest()]);
  expect([before.filter(resultOf).length, after.filter(resultOf).length]).toEqual([0, 1]);
});

test('an id that was never sent is refused in plain words', async () => {
  const headers = await session();
  for (const id of ['99-0', 'x', '1-99']) {
    using refused = await resume(headers, id);
    expect(refused.status).toBe(400);
    expect(JSON.parse(await refused.body()).error.message).toContain('look before you send it again');
  }
});

test('a stream for messages of the server says how long to wait before connecting again', async () => {
  const headers = await session();
  using stream = await EventStreamClient.open(rf.url, { method: 'GET', headers });
  expect(await stream.next()).toEqual({ id: '', retry: '1000', data: '' });
});

test('a client whose network breaks during a call gets its result', async () => {
  // Breaks each connection that carries a call, once its first event has passed.
  const target = Number(new URL(rf.url).port);
  let breaks = 0;
  const proxy = net.createServer((socket) => {
    const upstream = net.connect(target, '127.0.0.1');
    let isCall = false;
    socket.on('data', (data) => {
      isCall ||= data.includes('tools/call');
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      socket.write(data);
      if (!isCall || !data.includes('data: ')) return;
      breaks += 1;
      setImmediate(() => upstream.destroy() && socket.resetAndDestroy());
    });
    for (const end of [socket, upstream])
      end.on('error', () => {}).on('close', () => [socket, upstream].map((each) => each.destroy()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as net.AddressInfo;
  await using client = await connectHttp(`http://127.0.0.1:${port}`, { token: TOKENS.one });
  expect(httpTransport(client.client).protocolVersion).toBe(NEWEST);
  const result = await client.ok('hash_file', { root: 'r', path: 'seconds.bin', algorithm: 'sha256' });
  expect(result).toMatchObject({ hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(breaks).toBe(1);
  proxy.close();
});
