import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { secret } from '../support/agent-server.ts';
import { ERAS, type Era } from '../support/connections.ts';
import { connectSampling, json, type SamplingClient } from '../support/sampling-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { httpTransport, mountOf } from '../support/tool-client.ts';

const MOUNTS = ['workspace', 'guide'] as const;
type Mount = (typeof MOUNTS)[number];
/** Fills the cache of a client. */
const FULL = 'x'.repeat(1_000);
const TOKENS = { ada: 'token-of-ada-0123456789', bob: 'token-of-bob-0123456789', eve: 'token-of-eve-0123456789' };

const base = tempDir();
fs.mkdirSync(`${base}/workspace`);
fs.mkdirSync(`${base}/project/docs`, { recursive: true });

const roots = [
  { name: 'workspace', path: `${base}/workspace` },
  {
    name: 'laptop',
    agent: { allowed_paths: ['docs/'], timeout: 4, cache_bytes: 1_000 },
    allowed_tools: ['list_folder', 'read_file', 'stat_file', 'hash_file', 'copy'],
  },
];
const dialects = { workspace: {}, guide: { project: `${base}/project` } };
const both = ['workspace', 'laptop'];
const auth = {
  tokens: [
    { name: 'ada', token_env: 'TOKEN_ADA', roots: both },
    { name: 'bob', sha256: createHash('sha256').update(TOKENS.bob).digest('hex'), roots: both },
    { name: 'eve', token_env: 'TOKEN_EVE', roots: ['workspace'] },
  ],
};

let guarded: TestServer;
let open: TestServer;
beforeAll(async () => {
  [guarded, open] = await Promise.all([
    startServer({
      roots,
      config: { dialects, auth, log_level: 'trace' },
      env: { TOKEN_ADA: TOKENS.ada, TOKEN_EVE: TOKENS.eve },
      token: TOKENS.ada,
    }),
    startServer({ roots, config: { dialects, log_level: 'trace' } }),
  ]);
});
afterAll(async () => {
  const log = guarded.stderr() + open.stderr();
  await guarded[Symbol.asyncDispose]();
  await open[Symbol.asyncDispose]();
  fs.rmSync(base, { recursive: true });
  for (const token of Object.values(TOKENS)) expect(log).not.toContain(token);
  expect(log).not.toContain(secret('').trim());
  expect(log).not.toContain('internal error');
});

function connect(server: TestServer, dialect: Mount, era: Era, who?: keyof typeof TOKENS): Promise<SamplingClient> {
  return connectSampling(server.url, { dialect, era, ...(who && { token: TOKENS[who] }) });
}

function cache(agent: SamplingClient, path: string, content: string) {
  return agent.ok('guide_cache_file', { path, content });
}

async function resources(agent: SamplingClient): Promise<string[]> {
  return (await agent.client.listResources(undefined, { cacheMode: 'refresh' } as never)).resources.map(
    ({ uri }) => uri,
  );
}

async function resource(agent: SamplingClient, path: string): Promise<string | undefined> {
  const { contents } = await agent.client.readResource({ uri: `agent://${path}` });
  return (contents[0] as { text?: string }).text;
}

describe.each(ERAS)('two tokens, %s', (era) => {
  describe.each(MOUNTS)('%s', (mount) => {
    test('never see each other’s files, listings or figures', async () => {
      await using ada = await connect(guarded, mount, era, 'ada');
      await using bob = await connect(guarded, mount, era, 'bob');
      const path = `docs/private-${era}-${mount}.md`;
      const before = await cache(bob, 'docs/bob.md', 'bob');
      await cache(ada, path, secret('of ada'));
      expect(await resource(ada, path)).toBe(secret('of ada'));
      expect(await resources(ada)).toContain(`agent://${path}`);
      expect(await resources(bob)).not.toContain(`agent://${path}`);
      await expect(resource(bob, path)).rejects.toThrow();
      const after = await cache(bob, 'docs/bob.md', 'bob');
      expect(after.stats.entries).toBe(before.stats.entries);
      expect(after.stats.bytes).toBe(before.stats.bytes);
      expect(await resource(ada, path)).toBe(secret('of ada'));
    });
  });

  test('are each asked for their own file of one name', async () => {
    await using ada = await connect(guarded, 'workspace', era, 'ada');
    await using bob = await connect(guarded, 'workspace', era, 'bob');
    const args = { root: 'laptop', path: `docs/same-${era}.md` };
    ada.answer(json({ content: secret('ada') }));
    bob.answer(json({ content: secret('bob') }));
    for (let round = 0; round < 2; round += 1) {
      expect((await ada.call('read_file', args)).structured.content).toBe(secret('ada'));
      expect((await bob.call('read_file', args)).structured.content).toBe(secret('bob'));
    }
    expect([ada.asked.length, bob.asked.length]).toEqual([1, 1]);
    const folder = { root: 'laptop', path: `docs/folder-${era}` };
    ada.answer(json({ path: folder.path, entries: [{ name: 'ada', type: 'file' }] }));
    bob.answer(json({ path: folder.path, entries: [{ name: 'bob', type: 'file' }] }));
    expect((await ada.call('list_folder', folder)).structured.entries).toMatchObject([{ name: 'ada' }]);
    expect((await bob.call('list_folder', folder)).structured.entries).toMatchObject([{ name: 'bob' }]);
    expect((await bob.call('stat_file', { root: 'laptop', path: `${folder.path}/ada` })).isError).toBe(true);
  });

  test('asked at the same time, each gets its own', async () => {
    await using ada = await connect(guarded, 'workspace', era, 'ada');
    await using bob = await connect(guarded, 'workspace', era, 'bob');
    const args = { root: 'laptop', path: `docs/at-once-${era}.md` };
    ada.answer(async () => json({ content: secret('ada') }));
    bob.answer(async () => json({ content: secret('bob') }));
    const answers = await Promise.all([ada.call('read_file', args), bob.call('read_file', args)]);
    expect(answers.map(({ structured }) => structured.content)).toEqual([secret('ada'), secret('bob')]);
  });

  test('a token that may not use the agent root learns nothing of it', async () => {
    await using eve = await connect(guarded, 'workspace', era, 'eve');
    eve.answer(json({ content: 'x' }));
    expect((await eve.call('list_roots')).text).not.toContain('laptop');
    expect(await eve.call('read_file', { root: 'laptop', path: 'docs/a.md' })).toMatchObject({ isError: true });
    expect(eve.asked).toEqual([]);
  });

  test('clients with one token share what that token’s owner handed over', async () => {
    await using one = await connect(guarded, 'workspace', era, 'ada');
    const path = `docs/shared-${era}.md`;
    await cache(one, path, secret('shared'));
    await using two = await connect(guarded, 'workspace', era === 'legacy' ? 'modern' : 'legacy', 'ada');
    const { structured } = await two.call('read_file', { root: 'laptop', path });
    expect(structured.content).toBe(secret('shared'));
    expect(two.asked).toEqual([]);
  });

  test('no token, or a wrong one, is 401', async () => {
    for (const mount of MOUNTS) {
      for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: TOKENS.ada }]) {
        const answer = await fetch(new URL(mountOf(mount), guarded.url), { method: 'POST', headers, body: '{}' });
        expect([mount, answer.status]).toEqual([mount, 401]);
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
      }
    }
    expect((await fetch(new URL('/health', guarded.url))).status).toBe(200);
  });
});

test('a session belongs to the token that opened it', async () => {
  await using ada = await guarded.connect({ token: TOKENS.ada });
  const post = (token: string) =>
    fetch(new URL('/mcp', guarded.url), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': httpTransport(ada.client).sessionId ?? '',
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'tools/list' }),
    });
  expect((await post(TOKENS.ada)).status).toBe(200);
  expect((await post(TOKENS.bob)).status).toBe(404);
});

test('a call’s state is of no use to another token, nor when it was tampered with', async () => {
  await using ada = await connect(guarded, 'workspace', 'modern', 'ada');
  await using bob = await connect(guarded, 'workspace', 'modern', 'bob');
  const path = 'docs/state.md';
  const params = { name: 'read_file', arguments: { root: 'laptop', path } };
  const first = await manual(ada, params);
  expect(first.resultType).toBe('input_required');
  const inputResponses = Object.fromEntries(
    Object.keys(first.inputRequests).map((key) => [
      key,
      { model: 'm', role: 'assistant', content: { type: 'text', text: json({ content: secret('forged') }) } },
    ]),
  );
  const retry = { ...params, inputResponses, requestState: first.requestState };
  await manual(bob, retry).catch(() => {});
  for (const spoilt of [`${first.requestState}x`, first.requestState.slice(0, -2), 'x']) {
    const outcome = await manual(ada, { ...retry, requestState: spoilt }).catch(() => 'refused');
    expect(JSON.stringify(outcome)).not.toContain('forged');
  }
  ada.answer(json({ content: secret('true') }));
  expect((await ada.call('read_file', { root: 'laptop', path })).structured.content).toBe(secret('true'));
  expect(ada.asked).toHaveLength(1);
});

// biome-ignore lint/suspicious/noExplicitAny: a result of either kind
function manual({ client }: SamplingClient, params: object): Promise<any> {
  return client.request({ method: 'tools/call', params } as never, { allowInputRequired: true } as never);
}

describe('without tokens', () => {
  test.each(MOUNTS)('sessions at %s do not see each other’s files', async (mount) => {
    await using one = await connect(open, mount, 'legacy');
    await using two = await connect(open, mount, 'legacy');
    await cache(one, 'docs/session.md', secret('session'));
    expect(await resource(one, 'docs/session.md')).toBe(secret('session'));
    await expect(resource(two, 'docs/session.md')).rejects.toThrow();
    expect(await resources(two)).toEqual([]);
  });

  test('a session that ends gives back the room that its files took', async () => {
    await using first = await connect(open, 'workspace', 'legacy');
    await cache(first, 'docs/first.md', FULL);
    // More than all sessions together may have kept.
    for (let nth = 0; nth < 20; nth += 1) {
      await using next = await open.connect();
      await next.ok('guide_cache_file', { path: 'docs/next.md', content: FULL });
      await httpTransport(next.client).terminateSession();
    }
    expect(await resource(first, 'docs/first.md')).toBe(FULL);
  });

  test('of sessions that stay, the one unused for longest gives way', async () => {
    await using first = await connect(open, 'workspace', 'legacy');
    await cache(first, 'docs/first.md', FULL);
    const others: SamplingClient[] = [];
    for (let nth = 0; nth < 20; nth += 1) {
      const next = await connect(open, 'workspace', 'legacy');
      others.push(next);
      await cache(next, 'docs/next.md', FULL);
      expect(await resource(next, 'docs/next.md')).toBe(FULL);
    }
    await expect(resource(first, 'docs/first.md')).rejects.toThrow();
    for (const other of others) await other.client.close();
  });

  test('a client of 2026-07-28 has no identity: nothing is kept between its calls', async () => {
    await using agent = await connect(open, 'workspace', 'modern');
    const args = { root: 'laptop', path: 'docs/anonymous.md' };
    agent.answer(json({ content: secret('anonymous') }));
    for (const asked of [1, 2]) {
      expect((await agent.call('read_file', args)).structured.content).toBe(secret('anonymous'));
      expect(agent.asked).toHaveLength(asked);
    }
    expect((await cache(agent, args.path, secret('kept?'))).warnings).toEqual([
      expect.stringMatching(/nothing is kept/i),
    ]);
    expect(await resources(agent)).toEqual([]);
    await expect(resource(agent, args.path)).rejects.toThrow();
    expect((await cache(agent, 'docs/other.md', 'x')).stats.entries).toBeLessThanOrEqual(1);
    await using other = await connect(open, 'workspace', 'modern');
    other.answer(json({ content: secret('other') }));
    expect((await other.call('read_file', args)).structured.content).toBe(secret('other'));
  });

  test('an anonymous copy of a file goes through in one call', async () => {
    await using agent = await connect(open, 'workspace', 'modern');
    agent.answer(json({ content: secret('copied') }));
    const ends = { source_root: 'laptop', source_path: 'docs/c.md', dest_root: 'workspace', dest_path: 'anonymous.md' };
    expect(await agent.call('copy', ends)).toMatchObject({ isError: false });
    expect(fs.readFileSync(`${base}/workspace/anonymous.md`, 'utf8')).toBe(secret('copied'));
  });
});
