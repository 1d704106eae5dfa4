import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERAS } from '../support/connections.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const dir = tempDir();
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '0' } },
};
let rf: TestServer;

beforeAll(async () => {
  fs.writeFileSync(path.join(dir, 'a.txt'), 'hello\n');
  rf = await startServer({ roots: [{ name: 'r', path: dir }] });
});

afterAll(async () => {
  await rf[Symbol.asyncDispose]();
  fs.rmSync(dir, { recursive: true, force: true });
});

interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly agent?: http.Agent;
}

/** Sends what fetch would not let through, such as a false Host. */
function send({
  path: where = '/mcp',
  method = 'POST',
  headers = {},
  body = '',
  agent,
}: Sent): Promise<{ status: number; body: string; headers: http.IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(rf.url);
    const request = http.request(
      { hostname, port, path: where, method, headers: { ...JSON_HEADERS, ...headers }, ...(agent && { agent }) },
      (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }));
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

describe('E2E-084 FR-019: /health', () => {
  test('answers ok to GET and HEAD', async () => {
    expect(await send({ path: '/health', method: 'GET' })).toMatchObject({
      status: 200,
      body: 'ok',
      headers: { 'content-type': 'text/plain' },
    });
    expect(await send({ path: '/health?x=1', method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
  });

  test('nothing else may be done with it', async () => {
    expect(await send({ path: '/health' })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });
});

describe('what is refused before it reaches the protocol', () => {
  test.each([
    ['another path', { path: '/' }, 404],
    ['a path below', { path: '/mcp/other' }, 404],
    ['another method', { method: 'PUT' }, 405],
    ['a foreign origin', { headers: { origin: 'http://evil.example' } }, 403],
    ['a foreign origin on GET', { method: 'GET', headers: { origin: 'http://evil.example' } }, 403],
    ['an opaque origin', { headers: { origin: 'null' } }, 403],
    ['a foreign host', { headers: { host: 'evil.example' } }, 403],
    ['no JSON', { body: '{' }, 400],
    ['nothing at all', { body: '' }, 400],
    ['text that is not UTF-8', { body: Buffer.from('{"a":"\xff"}', 'latin1') }, 400],
    ['a body that is too large', { body: ' '.repeat(10 * 1024 * 1024 + 1) }, 413],
    ['a compressed body', { headers: { 'content-encoding': 'gzip' }, body: '{}' }, 415],
    ['another content type', { headers: { 'content-type': 'text/plain' }, body: JSON.stringify(INITIALIZE) }, 415],
    ['a call without a session', { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }) }, 400],
    ['a stream without a session', { method: 'GET' }, 400],
    [
      'an unknown session',
      { headers: { 'mcp-session-id': 'x' }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }) },
      404,
    ],
    ['JSON that is no message', { body: 'null' }, 400],
    ['an empty batch', { body: '[]' }, 400],
  ])('%s', async (_, request, status) => {
    const answer = await send(request);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } });
  });

  test('malformed JSON is a parse error', async () => {
    expect(JSON.parse((await send({ body: '{' })).body).error.code).toBe(-32700);
  });

  test('a too large body of unknown length', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const headers = { 'transfer-encoding': 'chunked' };
    const answer = await send({ headers, body: ' '.repeat(11 * 1024 * 1024), agent });
    expect(answer.status).toBe(413);
    // The connection still works.
    expect(await send({ path: '/health', method: 'GET', agent })).toMatchObject({ status: 200, body: 'ok' });
    agent.destroy();
  });

  test('an origin on this machine is welcome', async () => {
    const answer = await send({ headers: { origin: 'http://localhost:5173' }, body: JSON.stringify(INITIALIZE) });
    expect([answer.status, typeof answer.headers['mcp-session-id']]).toEqual([200, 'string']);
  });
});

test('a call that its client cancels ends its stream, so that the session can be forgotten', async () => {
  const { headers } = await send({ body: JSON.stringify(INITIALIZE) });
  const session = { 'mcp-session-id': String(headers['mcp-session-id']) };
  fs.writeFileSync(path.join(dir, 'minutes.bin'), '');
  fs.truncateSync(path.join(dir, 'minutes.bin'), 50e9);
  const params = { name: 'hash_file', arguments: { root: 'r', path: 'minutes.bin', algorithm: 'sha256' } };
  const answer = send({
    headers: session,
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params }),
  });
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
  await new Promise((resolve) => setTimeout(resolve, 100));
  await send({ headers: session, body: JSON.stringify(cancel) });
  expect(await answer).toMatchObject({ status: 200, body: '' });
  fs.rmSync(path.join(dir, 'minutes.bin'));
});

test('a session ends when its client says so', async () => {
  const { headers } = await send({ body: JSON.stringify(INITIALIZE) });
  const session = { 'mcp-session-id': String(headers['mcp-session-id']) };
  const list = { headers: session, body: JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' }) };
  expect((await send(list)).status).toBe(200);
  expect((await send({ method: 'DELETE', headers: session })).status).toBe(200);
  expect((await send(list)).status).toBe(404);
});

describe.each(ERAS)('a %s client', (era) => {
  test('lists and calls tools, several at once', async () => {
    await using client = await rf.connect({ era });
    const { tools } = await client.client.listTools();
    expect(tools.map(({ name }) => name)).toContain('read_file');
    const calls = Array.from({ length: 20 }, () => client.call('read_file', { root: 'r', path: 'a.txt' }));
    for (const { structured } of await Promise.all(calls)) expect(structured.content).toBe('hello\n');
  });

  test('gets an unknown tool as a protocol error, wrong arguments as an error of the tool', async () => {
    await using client = await rf.connect({ era });
    await expect(client.call('read_fil')).rejects.toMatchObject({ code: -32602 });
    const wrong = await client.call('read_file', { root: 'r', path: 5 });
    expect(wrong).toMatchObject({
      isError: true,
      structured: undefined,
      text: expect.stringContaining('path must be a string, got 5'),
    });
  });

  test('gets progress if it asked for it, and can cancel', async () => {
    fs.truncateSync(ensure(`${era}.bin`), 64 * 1024 ** 3);
    await using client = await rf.connect({ era });
    const abort = new AbortController();
    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => {
      seen.push(progress);
      if (seen.length === 2) abort.abort();
    };
    const args = { root: 'r', path: `${era}.bin`, algorithm: 'sha256' };
    const call = client.call('hash_file', args, { signal: abort.signal, onprogress });
    await expect(call).rejects.toThrow();
    expect(seen[1]).toBeGreaterThan(seen[0] ?? 0);
    const line = await rf.waitForLog(({ path: p }) => p === `${era}.bin`);
    expect(line).toMatchObject({ tool: 'hash_file', code: 'cancelled' });
  });
});

test('a modern client that goes away cancels its call', async () => {
  await using own = await startServer({ roots: [{ name: 'r', path: dir }], config: { request_timeout: 60 } });
  fs.truncateSync(ensure('huge.bin'), 64 * 1024 ** 3);
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: 'hash_file',
      arguments: { root: 'r', path: 'huge.bin', algorithm: 'sha256' },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 't', version: '0' },
      },
    },
  };
  const headers = {
    ...JSON_HEADERS,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'hash_file',
  };
  const abort = AbortSignal.timeout(500);
  await expect(
    fetch(own.url, { method: 'POST', headers, body: JSON.stringify(body), signal: abort }),
  ).rejects.toThrow();
  expect(await own.waitForLog(({ tool }) => tool === 'hash_file')).toMatchObject({ code: 'cancelled' });
});

test('request_timeout stops a call', async () => {
  fs.truncateSync(ensure('huge.bin'), 64 * 1024 ** 3);
  await using own = await startServer({ roots: [{ name: 'r', path: dir }], config: { request_timeout: 0.3 } });
  const { isError } = await own.call('hash_file', { root: 'r', path: 'huge.bin', algorithm: 'sha256' });
  expect(isError).toBe(true);
  expect(await own.waitForLog(({ tool }) => tool === 'hash_file')).toMatchObject({ code: 'timed_out' });
});

test('NFR-017 NFR-019: calls and violations are in the log, file content is not', async () => {
  fs.writeFileSync(path.join(dir, 'secret.txt'), 'do-not-log-me');
  await rf.call('read_file', { root: 'r', path: 'secret.txt' });
  expect(await rf.waitForLog(({ path: p }) => p === 'secret.txt')).toMatchObject({
    level: 'info',
    msg: 'call',
    tool: 'read_file',
    root: 'r',
    outcome: 'success',
    duration_ms: expect.any(Number),
    response_bytes: expect.any(Number),
  });
  fs.symlinkSync('/etc', path.join(dir, 'out'));
  const { text } = await rf.call('read_file', { root: 'r', path: 'out/passwd' });
  const line = await rf.waitForLog(({ level, path: p }) => level === 'warn' && p === 'out/passwd');
  expect(line).toMatchObject({ tool: 'read_file', root: 'r', attempted_path: 'out/passwd', code: 'outside_root' });
  expect(line.resolved_path).toContain('etc');
  expect(text).not.toContain(dir);
  expect(rf.stderr()).not.toContain('do-not-log-me');
});

test.runIf(process.platform === 'linux')(
  'another loopback address is served to those who call it by that',
  async () => {
    await using own = await startServer({ roots: [{ name: 'r', path: dir }], config: { host: '127.0.0.2' } });
    expect(new URL(own.url).hostname).toBe('127.0.0.2');
    expect((await own.call('list_roots')).isError).toBe(false);
    expect(own.logs().filter(({ level }) => level === 'warn')).toEqual([]);
  },
);

test('a call with two ends is logged with both, in every dialect', async () => {
  const dialects = { workspace: {}, memory: { root: 'r' }, classic: { root: 'r' } };
  await using own = await startServer({ roots: [{ name: 'r', path: dir }], config: { dialects } });
  const calls = [
    ['workspace', 'copy', { source_root: 'r', source_path: 'a.txt', dest_root: 'r', dest_path: 'b.txt' }],
    ['workspace', 'move', { source_root: 'r', source_path: 'b.txt', dest_root: 'r', dest_path: 'c.txt' }],
    ['memory', 'rename', { old_path: 'c.txt', new_path: 'd.txt' }],
    ['classic', 'copy', { source: 'd.txt', destination: 'e.txt' }],
    ['classic', 'move', { source: 'e.txt', destination: 'f.txt' }],
  ] as const;
  for (const [dialect, tool, args] of calls) {
    await using client = await own.connect({ dialect, era: 'modern' });
    await client.ok(tool, args);
    const source = Object.values(args).find((value) => value.endsWith('.txt'));
    const line = await own.waitForLog((entry) => entry.tool === tool && entry.path === source);
    expect(line).toMatchObject({ ...args, root: 'r', outcome: 'success' });
  }
});

function ensure(name: string): string {
  const file = path.join(dir, name);
  fs.closeSync(fs.openSync(file, 'a'));
  return file;
}
