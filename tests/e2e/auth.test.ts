import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERAS } from '../support/connections.ts';
import { runRingfence, writeConfig } from '../support/ringfence-process.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { ToolClient } from '../support/tool-client.ts';

const ALICE = 'alice-token-5f2c';
const BOB = 'bob-token-91d3';

const base = tempDir();
const root = (name: string) => ({ name, path: path.join(base, name), allowed_tools: ['*'] });
for (const name of ['hers', 'his', 'both']) {
  fs.mkdirSync(path.join(base, name));
  fs.writeFileSync(path.join(base, name, 'note.txt'), `in ${name}`);
}

const auth = {
  tokens: [
    { name: 'alice', token_env: 'ALICE_TOKEN', roots: ['hers', 'both'] },
    { name: 'bob', sha256: createHash('sha256').update(BOB).digest('hex'), roots: ['both', 'his'] },
  ],
};
const config = { auth, dialects: { workspace: {}, memory: { root: 'hers' }, classic: { root: 'both' } } };

let rf: TestServer;
beforeAll(async () => {
  const roots = ['hers', 'his', 'both'].map(root);
  rf = await startServer({ roots, config, env: { ALICE_TOKEN: ALICE }, token: ALICE });
});
afterAll(async () => {
  await rf[Symbol.asyncDispose]();
  fs.rmSync(base, { recursive: true, force: true });
});

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '0' } },
};
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' };

interface Post {
  readonly at?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

async function post(body: unknown, { at = '/mcp', method = 'POST', headers = {} }: Post = {}) {
  const response = await fetch(new URL(at, rf.url), {
    method,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe.each(ERAS)('%s', (era) => {
  test('each principal sees and uses its own roots, and learns of no others', async () => {
    await using alice = await rf.connect({ era, token: ALICE });
    await using bob = await rf.connect({ era, token: BOB });
    const seen = async (client: ToolClient) => {
      const { roots } = await client.ok('list_roots');
      return roots.map(({ name }: { name: string }) => name);
    };
    expect(await seen(alice)).toEqual(['hers', 'both']);
    expect(await seen(bob)).toEqual(['his', 'both']);
    const note = (root: string) => ({ root, path: 'note.txt' });
    expect((await alice.ok('read_file', note('hers'))).content).toBe('in hers');
    expect((await bob.ok('read_file', note('both'))).content).toBe('in both');
    const unknown = await bob.fails('read_file', note('none'));
    expect(await bob.fails('read_file', note('hers'))).toBe(unknown.replaceAll('none', 'hers'));
    const crossing = { source_root: 'hers', source_path: 'note.txt', dest_root: 'his', dest_path: 'stolen.txt' };
    await bob.fails('copy', crossing);
    expect(fs.readdirSync(path.join(base, 'his'))).toEqual(['note.txt']);
  });

  test('a dialect on a root that a principal may not use is forbidden to it', async () => {
    await using alice = await rf.connect({ dialect: 'memory', era, token: ALICE });
    expect((await alice.client.listTools()).tools.length).toBe(6);
    await expect(rf.connect({ dialect: 'memory', era, token: BOB })).rejects.toThrow(/403|Forbidden/);
  });

  test('nobody connects without a token, or with a wrong one', async () => {
    await expect(rf.connect({ era })).rejects.toThrow();
    await expect(rf.connect({ era, token: 'wrong' })).rejects.toThrow();
  });
});

test('401 asks for a bearer token, and calls a wrong one invalid', async () => {
  const missing = await post(INITIALIZE);
  expect([missing.status, missing.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="ringfence"']);
  expect(JSON.parse(missing.text)).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code: -32000, message: 'Unauthorized: a bearer token is required' },
  });
  const wrong = await post(INITIALIZE, { headers: bearer('wrong') });
  expect(wrong.status).toBe(401);
  expect(wrong.headers.get('www-authenticate')).toBe('Bearer realm="ringfence", error="invalid_token"');
  expect(wrong.text).not.toContain('wrong');
});

test('every method and every mount asks; the scheme may be written in any case', async () => {
  for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS']) {
    expect([method, (await post(undefined, { method })).status]).toEqual([method, 401]);
  }
  expect((await post(INITIALIZE, { at: '/mcp/classic' })).status).toBe(401);
  expect((await post(INITIALIZE, { headers: { authorization: `bEARER ${ALICE}` } })).status).toBe(200);
});

test('a token in the address is not one', async () => {
  for (const name of ['access_token', 'token', 'authorization']) {
    expect((await post(INITIALIZE, { at: `/mcp?${name}=${ALICE}` })).status).toBe(401);
  }
});

test('/health stays open; what else is served is not told', async () => {
  const health = await post(undefined, { at: '/health', method: 'GET' });
  expect([health.status, health.text]).toEqual([200, 'ok']);
  const answers = await Promise.all(
    ['/mcp', '/mcp/classic', '/mcp/guide', '/none', '/.well-known/oauth-protected-resource'].map(async (at) => {
      const { status, text } = await post(INITIALIZE, { at });
      return `${status} ${text}`;
    }),
  );
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toMatch(/^401 /);
  const unknown = await post(INITIALIZE, { at: '/none', headers: bearer(ALICE) });
  expect(unknown.status).toBe(404);
  expect(unknown.text).not.toContain('/mcp');
});

test('a token is asked for before the body is read', async () => {
  const { port } = new URL(rf.url);
  const status = await new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': 1_000_000 };
    const request = http.request({ port, path: '/mcp', method: 'POST', headers }, (response) => {
      resolve(response.statusCode);
      request.destroy();
    });
    request.on('error', reject);
    // The rest never comes.
    request.write('{');
  });
  expect(status).toBe(401);
});

test('a session belongs to whoever opened it: for others there is none', async () => {
  const opened = await post(INITIALIZE, { headers: bearer(ALICE) });
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  expect((await post(LIST, { headers: { ...session, ...bearer(ALICE) } })).status).toBe(200);

  const stolen = await post(LIST, { headers: { ...session, ...bearer(BOB) } });
  const invented = await post(LIST, { headers: { 'mcp-session-id': 'none', ...bearer(BOB) } });
  expect(stolen.status).toBe(404);
  expect([stolen.status, stolen.text]).toEqual([invented.status, invented.text]);
  for (const method of ['GET', 'DELETE']) {
    expect((await post(undefined, { method, headers: { ...session, ...bearer(BOB) } })).status).toBe(404);
  }
  expect((await post(LIST, { headers: session })).status).toBe(401);
  expect((await post(LIST, { headers: { ...session, ...bearer(ALICE) } })).status).toBe(200);
});

test('the log names who called, and never a token or what opens a session', async () => {
  await rf.call('read_file', { root: 'hers', path: 'note.txt' });
  const line = await rf.waitForLog(({ tool, client }) => tool === 'read_file' && client === 'alice');
  expect(line).toMatchObject({ outcome: 'success', root: 'hers' });
  await post(INITIALIZE, { headers: bearer('wrong-token-77') });
  await rf.waitForLog(({ msg, problem }) => msg === 'request refused' && problem.includes('not known'));
  const log = rf.stderr();
  for (const secret of [ALICE, BOB, 'wrong-token-77', auth.tokens[1]?.sha256 ?? '']) expect(log).not.toContain(secret);
});

test('the warning about being reachable is for servers without tokens only', async () => {
  const open = { host: '0.0.0.0', roots: [root('hers')] };
  const started = async (more: object) => {
    await using server = await startServer({ roots: [root('hers')], config: { ...open, ...more }, token: BOB });
    await server.call('list_roots');
    return server.logs().filter(({ level }) => level === 'warn');
  };
  expect(await started({})).toMatchObject([{ msg: expect.stringContaining('without authentication') }]);
  expect(await started({ auth: { tokens: [{ ...auth.tokens[1], roots: ['hers'] }] } })).toEqual([]);
});

test('a variable that is not set stops the start with one line', async () => {
  const file = writeConfig({ auth, roots: ['hers', 'his', 'both'].map(root) });
  const { code, stderr } = await runRingfence(['serve', '--config', file]);
  expect([code, stderr]).toEqual([
    2,
    `ringfence: ${file}: auth.tokens[0].token_env: the environment variable ALICE_TOKEN is not set; set it to the token\n`,
  ]);
});

test('stdio asks for no token: whoever started the process has it', async () => {
  const options = { transport: 'stdio', roots: ['hers', 'his', 'both'].map(root), config: { auth } } as const;
  await using server = await startServer({ ...options, env: { ALICE_TOKEN: ALICE } });
  const { roots } = await server.ok('list_roots');
  expect(roots.map(({ name }: { name: string }) => name)).toEqual(['hers', 'his', 'both']);
  expect(await server.waitForLog(({ tool }) => tool === 'list_roots')).toMatchObject({ client: 'stdio' });
});
