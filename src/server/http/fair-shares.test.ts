import { createHash } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import { FairScheduler } from '../../runtime/fair-scheduler.ts';
import { SearchPool } from '../../search/index.ts';
import type { Dialect } from '../../tools/dialect.ts';
import { Roots } from '../../tools/roots.ts';
import { defineTool } from '../../tools/tool.ts';
import { RunningCalls } from '../call/running/running-calls.ts';
import type { Service } from '../call/service.ts';
import { Principals } from '../clients/principals.ts';
import { describeServer } from '../description/describe-server.ts';
import { type HttpOptions, type RunningHttpServer, startHttp } from './http-server.ts';

const MIB = 1024 * 1024;
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 't', version: '0' },
};
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '0' } },
};
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' };

/** Ends the calls of `wait` that are running. */
let endWaiting: () => void;
/** How many calls of `wait` have begun. */
let begun = 0;

const wait = defineTool({
  name: 'wait',
  description: 'waits',
  needs: [],
  effect: 'read',
  input: z.strictObject({}),
  output: z.object({}),
  subject: [],
  run: async () => {
    begun += 1;
    const earlier = endWaiting;
    await new Promise<void>((resolve) => {
      endWaiting = () => {
        earlier();
        resolve();
      };
    });
    return {};
  },
});
const echo = defineTool({
  name: 'echo',
  description: 'echoes',
  needs: [],
  effect: 'read',
  input: z.strictObject({ text: z.string() }),
  output: z.object({ text: z.string() }),
  subject: [],
  run: async ({ text }) => ({ text }),
});
const dialect: Dialect = {
  name: 'test',
  serverName: 'test',
  serverVersion: '0',
  instructions: '',
  tools: [wait, echo],
  destructive: () => false,
  formatError: ({ code }) => code,
  formatProblems: () => 'bad arguments',
};
const roots = new Roots([]);
const tokens = ['one', 'two'].map((name) => ({
  name,
  sha256: createHash('sha256').update(name).digest(),
  roots: [],
}));
const service: Service = {
  dialect,
  description: describeServer(dialect),
  roots,
  principals: new Principals({ tokens }, roots),
  search: new SearchPool(),
  settings: { limits: { maxFullReadSize: 1 }, durable: true, requestTimeout: 30, confirmTimeout: 60 },
  logger: pino({ level: 'silent' }),
  running: new RunningCalls(),
  scheduler: new FairScheduler(),
  close: async () => {},
};

let serving: RunningHttpServer;
const open: { destroy(): void }[] = [];
afterEach(async () => {
  endWaiting?.();
  for (const each of open.splice(0)) each.destroy();
  await serving.close(0);
});

async function start(options: Partial<HttpOptions>): Promise<void> {
  begun = 0;
  endWaiting = () => {};
  serving = await startHttp([{ path: '/mcp', service }], { host: '127.0.0.1', port: 0, ...options });
}

interface Sent {
  readonly token: string;
  readonly method?: string;
  readonly session?: string;
  readonly lastEvent?: string;
  readonly body?: unknown;
  readonly modern?: string;
}

/** Sends a request on a connection of its own, and resolves when its answer begins. */
function send({ token, method = 'POST', session, lastEvent, body, modern }: Sent): Promise<http.IncomingMessage> {
  const headers = {
    'content-type': 'application/json',
    accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
    authorization: `Bearer ${token}`,
    ...(session !== undefined && { 'mcp-session-id': session }),
    ...(lastEvent !== undefined && { 'last-event-id': lastEvent }),
    ...(modern !== undefined && {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': modern,
    }),
  };
  return new Promise((resolve, reject) => {
    const request = http.request(`${serving.base}/mcp`, { method, headers, agent: false }, resolve);
    open.push(request);
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function finish(answer: Promise<http.IncomingMessage>) {
  const response = await answer;
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return { status: response.statusCode, headers: response.headers, text };
}

function call(token: string, name: string, args: object = {}) {
  const params = { name, arguments: args, _meta: META };
  return finish(send({ token, modern: name, body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } }));
}

/** Returns what is sent on a connection for a call with the token `one`. */
function rawCall(name: string, args: object): string {
  const params = { name, arguments: args, _meta: META };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer one\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: ${name}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

async function openSession(token: string): Promise<string> {
  return (await newSession(token)).session;
}

interface OpenedSession {
  readonly token: string;
  readonly session: string;
  readonly lastEvent: string;
}

async function newSession(token: string, body: object = INITIALIZE): Promise<OpenedSession> {
  const { headers, text } = await finish(send({ token, body }));
  return { token, session: String(headers['mcp-session-id']), lastEvent: /^id: (.*)$/m.exec(text)?.[1] ?? '' };
}

/** Reports whether a session is still open. One that was closed goes on by its id, but without its event streams. */
async function isOpen(opened: OpenedSession): Promise<boolean> {
  const { token, session } = opened;
  expect((await finish(send({ token, session, body: LIST }))).status).toBe(200);
  return (await finish(send({ ...opened, method: 'GET' }))).status === 200;
}

async function until(isTrue: () => boolean): Promise<void> {
  const end = performance.now() + 10_000;
  while (!isTrue()) {
    if (performance.now() > end) throw new Error('it did not happen');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('sessions: a token that opens many loses its own oldest ones, never those of another', async () => {
  await start({ sessions: { maxSessions: 16, idleMs: 60_000 } });
  const [hers, first] = [await newSession('two'), await newSession('one')];
  for (let count = 0; count < 40; count += 1) expect((await newSession('one')).lastEvent).toMatch(/-/);
  expect(await isOpen(hers)).toBe(true);
  expect(await isOpen(first)).toBe(false);
  expect((await newSession('two')).lastEvent).toMatch(/-/);
});

test('sessions: a long initialize counts for several, and a huge one is refused', async () => {
  await start({ sessions: { maxSessions: 16, idleMs: 60_000 } });
  const first = await newSession('one');
  const initialize = (length: number) => ({
    ...INITIALIZE,
    params: { ...INITIALIZE.params, capabilities: { experimental: { x: { long: 'x'.repeat(length) } } } },
  });
  const long = await newSession('one', initialize(20_000));
  expect(await isOpen(first)).toBe(true);
  expect((await newSession('one', initialize(20_000))).lastEvent).toMatch(/-/);
  expect(await isOpen(first)).toBe(true);
  expect(await isOpen(long)).toBe(false);
  expect((await finish(send({ token: 'one', body: initialize(70_000) }))).status).toBe(413);
});

test('streams: a token that opens all that it can leaves some for others', async () => {
  await start({ maxConnections: 48 });
  const stream = async (token: string) => send({ token, method: 'GET', session: await openSession(token) });
  const streams: http.IncomingMessage[] = [];
  for (let count = 0; count < 20; count += 1) streams.push(await stream('one'));
  const statuses = streams.map(({ statusCode }) => statusCode);
  expect(statuses.slice(0, 14)).toEqual(Array.from({ length: 14 }, () => 200));
  expect(statuses.slice(14)).toEqual(Array.from({ length: 6 }, () => 503));
  expect(streams.at(-1)?.headers['retry-after']).toBe('2');
  expect((await stream('two')).statusCode).toBe(200);
  // Whoever has too many streams can still call.
  expect((await call('one', 'echo', { text: 'x' })).status).toBe(200);
  streams[0]?.destroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect((await stream('one')).statusCode).toBe(200);
});

test('calls: a token whose calls take all places does not keep others waiting', async () => {
  await start({ memory: 64 * MIB });
  const waiting = Array.from({ length: 20 }, () => call('one', 'wait'));
  await until(() => begun === 7);
  expect((await call('two', 'echo', { text: 'hello' })).text).toContain('hello');
  expect(begun).toBe(7);
  // Those that wait get the places of those that end.
  while (begun < 20) {
    endWaiting();
    endWaiting = () => {};
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  endWaiting();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
});

test('connections: idle ones of whoever has most make room, so that others and /health are answered', async () => {
  await start({ maxConnections: 24 });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  open.push(agent);
  const health = () =>
    new Promise((resolve, reject) => {
      http.get(`${serving.base}/health`, (response) => resolve(response.resume().statusCode)).on('error', reject);
    });
  const { port } = serving;
  const sockets: net.Socket[] = [];
  for (let count = 0; count < 100; count += 1) {
    const socket = net.connect(port, '127.0.0.1').on('error', () => {});
    open.push(socket);
    sockets.push(socket);
    await once(socket, 'connect');
  }
  expect(await health()).toBe(200);
  expect((await call('two', 'echo', { text: 'hello' })).status).toBe(200);
  await until(() => sockets.filter(({ destroyed }) => destroyed).length >= 76);
  expect(sockets.at(-1)?.destroyed).toBe(false);
});

test('connections: requests on one connection are answered one after another, and all of them', async () => {
  await start({});
  const socket = net.connect(serving.port, '127.0.0.1');
  open.push(socket);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.write(rawCall('wait', {}) + rawCall('wait', {}));
  for (let count = 0; count < 300; count += 1)
    socket.write(rawCall('echo', { text: `<${count}>${'x'.repeat(5_000)}` }));
  await until(() => begun === 1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect([begun, text]).toEqual([1, '']);
  endWaiting();
  await until(() => begun === 2);
  endWaiting();
  const answered = () => [...text.matchAll(/"structuredContent":\{"text":"<(\d+)>/g)].map(([, count]) => Number(count));
  await until(() => answered().length === 300);
  expect(answered()).toEqual(Array.from({ length: 300 }, (_, count) => count));
});

/** Opens a connection whose first call waits while empty requests arrive behind it. */
async function pipeline(requests: number): Promise<net.Socket> {
  const socket = net.connect(serving.port, '127.0.0.1').on('error', () => {});
  open.push(socket);
  const empty = 'POST /mcp HTTP/1.1\r\nhost: a\r\nauthorization: Bearer one\r\ncontent-length: 0\r\n\r\n';
  socket.write(rawCall('wait', {}) + empty.repeat(requests));
  await once(socket, 'connect');
  return socket;
}

/** Begins a request whose body does not end, with all of it but a byte. */
function beginBody(token: string, length: number): http.ClientRequest {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${token}`,
    'content-length': length,
  };
  const request = http.request(`${serving.base}/mcp`, { method: 'POST', headers, agent: false });
  open.push(request);
  request.on('error', () => {});
  request.write(Buffer.alloc(length - 1, 'x'));
  return request;
}

test('pipelining: requests that wait behind others take nothing from another token', async () => {
  await start({ memory: 64 * MIB });
  for (let count = 0; count < 6; count += 1) await pipeline(600);
  const bodies = Array.from({ length: 20 }, () => beginBody('one', 2 * MIB));
  await Promise.race(bodies.map((request) => once(request, 'response')));
  expect((await call('two', 'echo', { text: 'x'.repeat(MIB) })).status).toBe(200);
});

test('pipelining: whoever sends too many requests ahead is cut off before the rest of them is parsed', async () => {
  await start({ memory: 64 * MIB });
  let parsed = 0;
  const count = (): void => {
    parsed += 1;
  };
  subscribe('http.server.request.start', count);
  try {
    const sockets: net.Socket[] = [];
    for (let index = 0; index < 20; index += 1) sockets.push(await pipeline(600));
    await until(() => sockets.filter(({ destroyed }) => destroyed).length === 20);
    // A token has 108 places, and connections that are closed free theirs.
    expect(parsed).toBeLessThan(20 * 120);
    expect((await call('two', 'echo', { text: 'x' })).status).toBe(200);
  } finally {
    unsubscribe('http.server.request.start', count);
  }
});

test('bodies: those for which there is no memory are refused, of one token, and what they held is free again', async () => {
  await start({ memory: 64 * MIB });
  const requests = Array.from({ length: 4 }, () => beginBody('one', 8 * MIB));
  const refused = await Promise.race(
    requests.map(async (request) => ((await once(request, 'response')) as [http.IncomingMessage])[0]),
  );
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '2']);
  expect((await call('two', 'echo', { text: 'x'.repeat(MIB) })).status).toBe(200);
  for (const request of requests) request.destroy();
  const large = async () => (await call('one', 'echo', { text: 'x'.repeat(3 * MIB) })).status;
  await until(() => requests.every(({ destroyed }) => destroyed));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await large()).toBe(200);
});
