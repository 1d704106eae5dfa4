import http, { type Server } from 'node:http';
import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { FairScheduler } from '../../runtime/fair-scheduler.ts';
import { SearchPool } from '../../search/index.ts';
import type { Dialect } from '../../tools/dialect.ts';
import { Roots } from '../../tools/roots.ts';
import { defineTool } from '../../tools/tool.ts';
import { RunningCalls } from '../call/running-calls.ts';
import { describeServer } from '../description/describe-server.ts';
import { type RunningHttpServer, startHttp } from './http-server.ts';

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

/** A server with one tool, which returns whether its client was gone when the call began. */
async function start() {
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
    limits: { maxFullReadSize: 1 },
    durable: true,
    requestTimeout: 30,
    confirmTimeout: 60,
    logger,
    running: new RunningCalls(),
    scheduler: new FairScheduler(),
    close: async () => {},
  };
  const created = vi.spyOn(http, 'createServer');
  serving = await startHttp([{ path: '/mcp', service }], { host: '127.0.0.1', port: 0 });
  const server = created.mock.results[0]?.value as Server;
  const call = () => fetch(`${serving?.base}/mcp`, { method: 'POST', headers: HEADERS, body: JSON.stringify(CALL) });
  return { server, lines, looks, call };
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
