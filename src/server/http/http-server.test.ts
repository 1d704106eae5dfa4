import http, { type Server, type ServerResponse } from 'node:http';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { MemoryStore } from '../../cluster/memory-store.ts';
import { FairScheduler } from '../../runtime/fair-scheduler.ts';
import { SearchPool } from '../../search/index.ts';
import type { Dialect } from '../../tools/dialect.ts';
import { Roots } from '../../tools/roots.ts';
import { defineTool } from '../../tools/tool.ts';
import { RunningCalls } from '../call/running/running-calls.ts';
import type { Service } from '../call/service.ts';
import { describeServer } from '../description/describe-server.ts';
import { SessionIds } from '../sessions/session-id.ts';
import { SigningKeys } from '../sessions/signing-keys.ts';
import { type RunningHttpServer, startHttp } from './http-server.ts';
import type { Route } from './route.ts';

const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'look',
    arguments: {},
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 't', version: '0' },
    },
  },
};
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'look',
};

let serving: RunningHttpServer | undefined;
afterEach(async () => {
  vi.restoreAllMocks();
  await serving?.close(0);
});

/** What replicas share. */
type Shared = Pick<Service, 'store' | 'signingKeys'>;

/** A server with one tool, which returns whether its client was gone when the call began. */
async function start(routes: readonly Route[] = [], missing?: () => readonly string[], shared: Shared = {}) {
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { formatters: { level: (level) => ({ level }) } },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  const looks: boolean[] = [];
  const look = defineTool({
    name: 'look',
    description: 'look',
    needs: [],
    effect: 'read',
    input: z.strictObject({}),
    output: z.object({}),
    subject: [],
    run: async (_, { signal }) => {
      looks.push(signal.aborted);
      return {};
    },
  });
  const dialect: Dialect = {
    name: 'test',
    serverName: 'test',
    serverVersion: '0',
    instructions: '',
    tools: [look],
    destructive: () => false,
    formatError: ({ code }) => code,
    formatProblems: () => '',
  };
  const service = {
    dialect,
    description: describeServer(dialect),
    roots: new Roots([]),
    search: new SearchPool(),
    settings: { limits: { maxFullReadSize: 1 }, durable: true, requestTimeout: 30, confirmTimeout: 60 },
    logger,
    running: new RunningCalls(),
    scheduler: new FairScheduler(),
    close: async () => {},
    ...shared,
  };
  const created = vi.spyOn(http, 'createServer');
  serving = await startHttp([{ path: '/mcp', service }], { host: '127.0.0.1', port: 0, routes, missing });
  const server = created.mock.results[0]?.value as Server;
  const call = () => fetch(`${serving?.base}/mcp`, { method: 'POST', headers: HEADERS, body: JSON.stringify(CALL) });
  return { server, lines, looks, call, service };
}

test('a connection that cannot be accepted is a warning, and the server keeps serving', async () => {
  const { server, lines, looks, call } = await start();
  server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE', syscall: 'accept' }));
  expect(lines).toMatchObject([{ level: 'warn', error: { code: 'EMFILE' }, msg: 'connection not accepted' }]);
  expect((await call()).status).toBe(200);
  expect(looks).toEqual([false]);
});

test('a client that is gone by the time its request is read is noticed', async () => {
  const { server, looks, call } = await start();
  server.prependListener('request', (request, response) => request.once('end', () => response.emit('close')));
  await call()
    .then((answer) => answer.text())
    .catch(() => {});
  expect(looks.filter((aborted) => !aborted)).toEqual([]);
});

test('a route answers at its path and below it, and is told when the server closes', async () => {
  let isClosed = false;
  const page: Route = {
    path: '/page',
    handle: ({ url }, response) => void response.end(`page ${url}`),
    close: () => {
      isClosed = true;
    },
  };
  await start([page]);
  const get = async (path: string) => (await fetch(`${serving?.base}${path}`)).text();
  expect(await get('/page?a')).toBe('page /page?a');
  expect(await get('/page/part')).toBe('page /page/part');
  for (const other of ['/pages', '/', '/mcp/page']) expect(await get(other)).toContain('Not found');
  await serving?.close(0);
  expect(isClosed).toBe(true);
});

test('a route that fails is an internal error without its message', async () => {
  const { lines } = await start([{ path: '/page', handle: () => Promise.reject(new Error('secret')) }]);
  const answer = await fetch(`${serving?.base}/page`);
  expect([answer.status, await answer.text()]).toEqual([500, expect.not.stringContaining('secret')]);
  expect(lines).toMatchObject([{ level: 'error', msg: 'internal error' }]);
});

test('whether a session can go on is asked of the store once in a request', async () => {
  const asked: string[] = [];
  class Store extends MemoryStore {
    override get(key: string): ReturnType<MemoryStore['get']> {
      asked.push(key);
      return super.get(key);
    }
  }
  const signingKeys = new SigningKeys(['s'.repeat(32)]);
  await start([], undefined, { store: new Store(), signingKeys });
  const client = { protocolVersion: '2025-06-18', name: 't', capabilities: {} };
  const daysAgo = Date.now() - 3 * 24 * 60 * 60_000;
  const id = new SessionIds(signingKeys).issue({ principal: undefined, dialect: 'test' }, client, daysAgo);
  const headers = { ...HEADERS, 'mcp-protocol-version': '2025-06-18', 'mcp-session-id': id, 'last-event-id': '1-0' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'look', arguments: {} } });
  for (const init of [{ method: 'POST', body }, { method: 'GET' }, { method: 'DELETE' }]) {
    asked.length = 0;
    expect((await fetch(`${serving?.base}/mcp`, { headers, ...init })).status).toBe(404);
    expect([init.method, ...asked]).toEqual([init.method, ...new Set(asked)]);
    expect(asked.length).toBeGreaterThan(0);
  }
});

describe('a server that leaves', () => {
  const initialize = {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '0' } },
  };
  const inSession = (session: string | null) => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-06-18',
    ...(session !== null && { 'mcp-session-id': session }),
  });
  const post = (message: object, session: string | null = null) =>
    fetch(`${serving?.base}/mcp`, {
      method: 'POST',
      headers: inSession(session),
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });

  test('closes each connection after its next answer, also in sessions, whoever answers', async () => {
    const { call } = await start();
    const session = (await post(initialize)).headers.get('mcp-session-id');
    const fast = { id: 2, method: 'tools/call', params: { name: 'look', arguments: {} } };
    const bySdk = { id: 3, method: 'ping' };
    const all = [() => call(), () => post(fast, session), () => post(bySdk, session), () => post(initialize)];
    const connections = async () => {
      const answers = await Promise.all(all.map((send) => send()));
      return Promise.all(answers.map(async (answer) => [await answer.text(), answer.headers.get('connection')][1]));
    };
    expect(await connections()).toEqual(all.map(() => 'keep-alive'));
    void serving?.retire();
    expect(await connections()).toEqual(all.map(() => 'close'));
  });

  test('ends event streams, also those that begin later, and no answer that is being prepared', async () => {
    let go = (): void => {};
    const prepared = new Promise<void>((resolve) => {
      go = resolve;
    });
    const beginStream = (response: ServerResponse): void => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n');
    };
    const routes: Route[] = [
      { path: '/page', handle: (_, response) => prepared.then(() => void response.writeHead(200).end('whole')) },
      { path: '/late', handle: (_, response) => prepared.then(() => beginStream(response)) },
      { path: '/early', handle: (_, response) => beginStream(response) },
    ];
    const { lines, server } = await start(routes);
    let arrived = 0;
    server.on('request', () => {
      arrived += 1;
    });
    const texts = ['/page', '/late', '/early'].map(async (path) => (await fetch(`${serving?.base}${path}`)).text());
    await expect.poll(() => arrived).toBe(3);
    void serving?.retire();
    expect(await texts[2]).toBe(': begun\n\n');
    go();
    expect(await Promise.all(texts)).toEqual(['whole', ': begun\n\n', ': begun\n\n']);
    expect(lines).toEqual([]);
  });
});

describe('/ready', () => {
  const ready = (init?: RequestInit) => fetch(`${serving?.base}/ready`, init);

  test('says that the server takes requests, and what it goes on without', async () => {
    const missing: string[] = [];
    await start([], () => missing);
    expect(await (await ready()).json()).toEqual({ ready: true, missing: [] });
    missing.push('redis');
    const answer = await ready();
    expect([answer.status, await answer.json()]).toEqual([200, { ready: true, missing: ['redis'] }]);
    expect(answer.headers.get('content-type')).toBe('application/json');
  });

  test('answers HEAD, and no other method', async () => {
    await start();
    const head = await ready({ method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const post = await ready({ method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('is 503 while the server waits for the last calls', async () => {
    const { service } = await start();
    const running = service.running.start();
    const socket = net.connect(serving?.port ?? 0, '127.0.0.1');
    // A request that has begun keeps its connection open.
    socket.write('GET /ready HTTP/1.1\r\n');
    await sleep(100);
    const closed = serving?.close(10_000);
    socket.write('host: 127.0.0.1\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer).toContain('{"ready":false,"missing":[]}');
    service.running.end(running);
    await closed;
  });
});
