import fs from 'node:fs';
import http from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EventStreamClient } from '../support/event-stream.ts';
import { runRingfence } from '../support/ringfence-process.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { httpTransport } from '../support/tool-client.ts';

const dir = tempDir();
let rf: TestServer;

beforeAll(async () => {
  rf = await startServer({ roots: [{ name: 'r', path: dir }] });
});

afterAll(async () => {
  await rf[Symbol.asyncDispose]();
  fs.rmSync(dir, { recursive: true, force: true });
});

const PING = { jsonrpc: '2.0', method: 'ping' };
const OPENING = {
  jsonrpc: '2.0',
  id: 'opening',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '0' } },
};

describe('a request that is no JSON-RPC is refused in the same way on stdio and over HTTP', () => {
  test.each([
    ['a null as id', { ...PING, id: null }, null],
    ['a call with a null as id', { ...PING, id: null, method: 'tools/call', params: { name: 'list_roots' } }, null],
    ['a fraction as id', { ...PING, id: 1.5 }, 1.5],
    ['an object as id', { ...PING, id: {} }, null],
    ['a truth value as id', { ...PING, id: true }, null],
    ['a list of parameters', { ...PING, id: 5, params: [] }, 5],
    ['a text as parameters', { ...PING, id: 5, params: 'x' }, 5],
    ['an unknown field', { ...PING, id: 5, extra: 1 }, 5],
    ['another version of JSON-RPC', { ...PING, id: 5, jsonrpc: '1.0' }, 5],
    ['a number', 5, null],
  ])('%s', async (_, message, id) => {
    const refusal = { jsonrpc: '2.0', id, error: { code: -32600 } };
    const session = { 'mcp-session-id': String(httpTransport(rf.client).sessionId) };
    using answer = await EventStreamClient.open(rf.url, { headers: session, message });
    expect([answer.status, JSON.parse(await answer.body())]).toEqual([400, expect.objectContaining({ id })]);
    const { stdout } = await runRingfence(['stdio', dir], {
      stdin: [OPENING, message].map((each) => `${JSON.stringify(each)}\n`).join(''),
    });
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.filter((each) => each.id !== OPENING.id)).toMatchObject([refusal]);
  });
});

describe('Accept', () => {
  const answered = async (accept: string | undefined, method: 'GET' | 'POST') => {
    const headers = { 'mcp-session-id': String(httpTransport(rf.client).sessionId), accept: accept ?? '' };
    const message = method === 'POST' ? { ...PING, id: 5 } : undefined;
    using answer = await EventStreamClient.open(rf.url, { method, headers, message });
    return answer.status;
  };

  test.each([
    '*/*',
    'text/event-stream, application/json',
    'application/*, text/*',
    'application/json, */*;q=0.1',
    'text/html, */*',
    'Application/JSON, TEXT/event-stream',
  ])('%s is served', async (accept) => {
    expect(await answered(accept, 'POST')).toBe(200);
  });

  test.each(['application/json', 'text/event-stream', 'application/*', 'text/html', '*/*;q=0', 'x'])(
    '%s is not, because the answer may be JSON or an event stream',
    async (accept) => {
      expect(await answered(accept, 'POST')).toBe(406);
    },
  );

  test('a request without the header accepts anything', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(OPENING);
    const status = await new Promise((resolve, reject) => {
      const request = http.request(rf.url, { method: 'POST', headers, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.on('error', reject).end(body);
    });
    expect(status).toBe(200);
  });

  test.each([
    ['*/*', 200],
    ['text/*', 200],
    ['application/json', 406],
  ])('a stream that is asked for with %s gets %i', async (accept, status) => {
    await using client = await rf.connect();
    const headers = { 'mcp-session-id': String(httpTransport(client.client).sessionId), accept };
    using answer = await EventStreamClient.open(rf.url, { method: 'GET', headers });
    // The client has a stream of its own already.
    expect(answer.status).toBe(status === 200 ? 409 : status);
  });
});
