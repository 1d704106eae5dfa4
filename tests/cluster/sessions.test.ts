import fs from 'node:fs';
import path from 'node:path';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Replicas, SECRET, startReplica, startReplicas } from '../support/balanced-replicas.ts';
import { noRedis } from '../support/redis.ts';
import { json, SamplingClient } from '../support/sampling-client.ts';
import { connectHttp, httpTransport, newClient, ToolClient } from '../support/tool-client.ts';

const ADA = 'token-of-ada-0123456789abcdef';
const BOB = 'token-of-bob-0123456789abcdef';
const ROOTS = ['workspace', 'laptop'];
const CONFIG = {
  auth: {
    tokens: [
      { name: 'ada', token_env: 'ADA', roots: ROOTS },
      { name: 'bob', token_env: 'BOB', roots: ROOTS },
    ],
  },
  dialects: { workspace: {}, memory: { root: 'workspace' } },
};
/** Without the agent root. */
const WORKSPACE_ONLY = {
  ...CONFIG,
  auth: { tokens: CONFIG.auth.tokens.map((token) => ({ ...token, roots: ['workspace'] })) },
};
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '0' } },
};
const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list' };

interface Posted {
  readonly body?: unknown;
  readonly method?: string;
  readonly session?: string;
  readonly token?: string;
  readonly path?: string;
}

function post(base: string, { body, method = 'POST', session, token = ADA, path: at = '/mcp' }: Posted) {
  return fetch(new URL(at, base), {
    method,
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      ...(session !== undefined && { 'mcp-session-id': session }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

async function openSession(base: string): Promise<string> {
  const answer = await post(base, { body: INITIALIZE });
  await answer.text();
  return answer.headers.get('mcp-session-id') ?? '';
}

const statusOf = async (base: string, posted: Posted): Promise<number> => {
  const answer = await post(base, { body: LIST, ...posted });
  await answer.text();
  return answer.status;
};

describe.skipIf(noRedis)(`sessions of three replicas${noRedis === undefined ? '' : ` (skipped: ${noRedis})`}`, () => {
  let replicas: Replicas;
  beforeAll(async () => {
    replicas = await startReplicas({
      count: 3,
      token: ADA,
      env: { ADA, BOB },
      config: { ...CONFIG, confirm_timeout: 20 },
      roots: [{ name: 'laptop', agent: { allowed_paths: ['.'], timeout: 20 } }],
    });
  });
  afterAll(async () => {
    await replicas?.[Symbol.asyncDispose]();
  });

  test.each(['legacy', 'modern'] as const)(
    'a client of the %s era works, each request at another replica',
    async (era) => {
      await using client = await connectHttp(replicas.url, { era, token: ADA });
      for (let i = 0; i < 12; i += 1) {
        await client.ok('write_file', { root: 'workspace', path: `${era}-${i}.txt`, content: `${i}` });
        expect(await client.ok('read_file', { root: 'workspace', path: `${era}-${i}.txt` })).toMatchObject({
          content: `${i}`,
        });
      }
      expect((await client.client.listTools()).tools.length).toBeGreaterThan(10);
      // Answered by the SDK.
      expect((await client.client.listResourceTemplates()).resourceTemplates.length).toBeGreaterThan(0);
      expect(fs.readdirSync(replicas.folder).filter((name) => name.startsWith(era))).toHaveLength(12);
    },
  );

  test('a client of version 1 of the SDK works, each request at another replica', async () => {
    const client = new OldClient({ name: 'old', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${ADA}` } };
    await client.connect(new OldTransport(new URL('/mcp', replicas.url), { requestInit }) as never);
    for (let i = 0; i < 12; i += 1) {
      const args = { root: 'workspace', path: `old-${i}.txt`, content: 'x' };
      expect((await client.callTool({ name: 'write_file', arguments: args })).isError).toBeFalsy();
    }
    await client.close();
  });

  test.each(['legacy', 'modern'] as const)(
    'a question of one replica is answered at another (sampling, %s)',
    async (era) => {
      await using client = new SamplingClient({ era });
      await connectHttp(replicas.url, { token: ADA, client: client.client });
      client.answer(json({ content: 'from the laptop' }));
      for (let i = 0; i < 6; i += 1) {
        const read = await client.ok('read_file', { root: 'laptop', path: `${era}-${i}.md` });
        expect(read.content).toBe('from the laptop');
      }
      expect(client.asked.length).toBe(6);
    },
  );

  test('several questions that are open at once find the calls that wait for them', async () => {
    await using client = new SamplingClient({ era: 'legacy' });
    await connectHttp(replicas.url, { token: ADA, client: client.client });
    client.answer(({ prompt }) => json({ content: /many-\d+/.exec(prompt)?.[0] ?? '' }));
    const reads = Array.from({ length: 12 }, (_, i) =>
      client.ok('read_file', { root: 'laptop', path: `many-${i}.md` }),
    );
    expect((await Promise.all(reads)).map(({ content }) => content)).toEqual(reads.map((_, i) => `many-${i}`));
  });

  test('a call is cancelled through another replica', async () => {
    await using client = new SamplingClient({ era: 'legacy' });
    await connectHttp(replicas.url, { token: ADA, client: client.client });
    for (const name of ['a', 'b', 'c']) {
      const cancel = new AbortController();
      client.answer(() => {
        cancel.abort();
        return new Promise(() => {});
      });
      const call = client.call('read_file', { root: 'laptop', path: `${name}.md` }, { signal: cancel.signal });
      await expect(call).rejects.toThrow();
      const isEnd = ({ msg, path: at }: Record<string, unknown>) => msg === 'call' && at === `${name}.md`;
      const line = await Promise.any(replicas.servers.map((server) => server.waitForLog(isEnd)));
      expect(line).toMatchObject({ outcome: 'error', code: 'cancelled' });
    }
  });

  test('a session that a client ends is ended at all replicas', async () => {
    const [first = '', second = '', third = ''] = replicas.urls;
    const session = await openSession(first);
    for (const base of [first, second]) expect(await statusOf(base, { session })).toBe(200);
    expect((await post(second, { method: 'DELETE', session })).status).toBe(200);
    await expect.poll(() => statusOf(first, { session })).toBe(404);
    expect(await statusOf(second, { session })).toBe(404);
    expect(await statusOf(third, { session })).toBe(404);
  });

  test('forged, altered and foreign ids are all refused in the same words', async () => {
    const [first = '', second = ''] = replicas.urls;
    const session = await openSession(first);
    const seen = new Set<string>();
    const refuse = async (posted: Posted) => {
      for (const method of ['POST', 'GET', 'DELETE']) {
        const answer = await post(second, { ...(method === 'POST' && { body: LIST }), method, ...posted });
        const headers = [...answer.headers].filter(([name]) => name !== 'date').map(String);
        seen.add([answer.status, await answer.text(), ...headers.sort()].join('\n'));
      }
    };
    const middle = session.lastIndexOf('.') - 3;
    const flipped = session.slice(0, middle) + (session[middle] === 'A' ? 'B' : 'A') + session.slice(middle + 1);
    for (const forged of ['x', '1.e30.AAAA', `${session}A`, session.slice(0, -1), flipped, session.toUpperCase()]) {
      await refuse({ session: forged });
    }
    await refuse({ session, token: BOB });
    await refuse({ session, path: '/mcp/memory' });
    expect([...seen]).toHaveLength(1);
    expect([...seen][0]).toMatch(/^404\n.*Session not found/);
    expect(await statusOf(second, { session })).toBe(200);
  });

  test('a session outlives the replica that opened it, and every restart', async () => {
    const extra = await startReplica(replicas.folder, replicas.redis, {
      token: ADA,
      env: { ADA, BOB },
      config: WORKSPACE_ONLY,
    });
    const base = new URL(extra.url).origin;
    const session = await openSession(base);
    await extra.stop('SIGKILL');
    for (const other of replicas.urls) expect(await statusOf(other, { session })).toBe(200);
  });

  test('a secret is replaced without the loss of a session, one replica after another', async () => {
    const next = 'the-next-secret-of-all-replicas-9876543210';
    const extra = { token: ADA, config: WORKSPACE_ONLY };
    const start = (secrets: string) =>
      startReplica(replicas.folder, replicas.redis, { ...extra, env: { ADA, BOB, CLUSTER_SECRET: secrets } });
    await using knows = await start(`${SECRET},${next}`);
    await using signs = await start(`${next},${SECRET}`);
    await using done = await start(next);
    const steps = [replicas.urls[0] ?? '', ...[knows, signs, done].map(({ url }) => new URL(url).origin)];
    const sessions = await Promise.all(steps.map(openSession));
    const statuses = steps.map((base) => Promise.all(sessions.map((session) => statusOf(base, { session }))));
    // Replicas of one step and of the next go on with each other's sessions, the last two with those signed anew.
    expect(await Promise.all(statuses)).toEqual([
      [200, 200, 404, 404],
      [200, 200, 200, 200],
      [200, 200, 200, 200],
      [404, 404, 200, 200],
    ]);
  });

  test('the kernel lets a replica connect to Redis, where it confines it', async () => {
    for (const server of replicas.servers) {
      const { landlock } = await server.waitForLog(({ msg }) => msg === 'listening');
      expect(typeof landlock === 'string' || landlock.rules > 0).toBe(true);
      const ready = await fetch(new URL('/ready', server.url));
      expect(await ready.json()).toEqual({ ready: true, missing: [] });
      expect(server.logs().filter(({ msg }) => String(msg).startsWith('redis'))).toEqual([]);
    }
  });

  test('no id reaches a log', async () => {
    await using client = await connectHttp(replicas.url, { token: ADA });
    const { sessionId = '' } = httpTransport(client.client);
    await client.ok('list_roots');
    expect(sessionId).toMatch(/^1\./);
    for (const server of replicas.servers) expect(server.stderr()).not.toContain(sessionId.slice(-20));
  });
});

describe.skipIf(noRedis)(
  `a person asked by one replica${noRedis === undefined ? '' : ` (skipped: ${noRedis})`}`,
  () => {
    let replicas: Replicas;
    beforeAll(async () => {
      replicas = await startReplicas({
        roots: [],
        config: { confirm_timeout: 20 },
        count: 2,
        confirm: ['remove_file'],
      });
    });
    afterAll(async () => {
      await replicas?.[Symbol.asyncDispose]();
    });

    test.each(['legacy', 'modern'] as const)('answers at another (elicitation, %s)', async (era) => {
      const capabilities = { elicitation: {} };
      await using client = new ToolClient('workspace', newClient(era, { capabilities }));
      let asked = 0;
      client.client.setRequestHandler('elicitation/create', async () => {
        asked += 1;
        return { action: 'accept', content: {} };
      });
      await connectHttp(replicas.url, { client: client.client });
      for (let i = 0; i < 4; i += 1) {
        const file = path.join(replicas.folder, `${era}-${i}`);
        fs.writeFileSync(file, 'x');
        await client.ok('remove_file', { root: 'workspace', path: `${era}-${i}` });
        expect(fs.existsSync(file)).toBe(false);
      }
      expect(asked).toBe(4);
    });

    test('answers at another with a client of version 1 of the SDK', async () => {
      const client = new OldClient({ name: 'old', version: '1' }, { capabilities: { elicitation: {} } });
      client.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept' as const, content: {} }));
      await client.connect(new OldTransport(new URL('/mcp', replicas.url)) as never);
      for (let i = 0; i < 4; i += 1) {
        fs.writeFileSync(path.join(replicas.folder, `v1-${i}`), 'x');
        const args = { root: 'workspace', path: `v1-${i}` };
        expect((await client.callTool({ name: 'remove_file', arguments: args })).isError).toBeFalsy();
      }
      await client.close();
    });
  },
);
