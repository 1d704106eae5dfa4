import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ConsoleServer, type ConsoleUser, TOKENS } from '../support/console-server.ts';
import type { EventStreamClient } from '../support/event-stream.ts';
import { Person } from '../support/person.ts';

let server: ConsoleServer;
let operator: ConsoleUser;
let writer: ConsoleUser;
beforeAll(async () => {
  server = await ConsoleServer.start();
  [operator, writer] = [await server.signIn('operator'), await server.signIn('writer')];
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const calls = async (user: ConsoleUser) => (await user.get('calls?limit=1000')).body.calls;

/** Reads events until one of that name has what is wanted. */
async function eventWith<T>(events: EventStreamClient, isWanted: (data: T) => boolean): Promise<T> {
  for (let event = await events.next(); event !== undefined; event = await events.next()) {
    const data = event.data === '' ? undefined : JSON.parse(event.data);
    if (data !== undefined && isWanted(data)) return data;
  }
  throw new Error('the stream ended');
}

describe('calls', () => {
  test('are listed with what is known of them, newest first', async () => {
    server.place('code', 'a.txt', 'hello');
    await server.agent.ok('read_file', { root: 'code', path: 'a.txt' });
    await server.agent.fails('read_file', { root: 'code', path: '../../etc/passwd' });
    await server.agent.fails('read_file', { root: 'docs', path: 'missing' });
    const [newest, violation, success] = await operator
      .until('calls?limit=3', (body) => body.calls[0]?.path === 'missing')
      .then((body) => body.calls);
    expect(success).toEqual({
      id: expect.any(Number),
      time: expect.any(Number),
      client: 'ringfence-tests',
      token: 'agent',
      tool: 'read_file',
      dialect: 'workspace',
      root: 'code',
      path: 'a.txt',
      outcome: 'success',
      code: null,
      violation: false,
      duration_ms: expect.any(Number),
      response_bytes: expect.any(Number),
      change: null,
    });
    expect(violation).toMatchObject({ outcome: 'error', violation: true, path: '../../etc/passwd' });
    expect(newest).toMatchObject({ outcome: 'error', violation: false, code: 'not_found', root: 'docs' });
    expect([newest.id, violation.id]).toEqual([violation.id + 1, success.id + 1]);
  });

  test('are read page by page', async () => {
    for (let index = 0; index < 5; index += 1) await server.agent.ok('list_folder', { root: 'code', path: '' });
    await operator.until('calls?limit=5', (body) =>
      body.calls.every((call: { tool: string }) => call.tool === 'list_folder'),
    );
    const first = (await operator.get('calls?limit=2')).body;
    const second = (await operator.get(`calls?limit=2&before=${first.calls[1].id}`)).body;
    const ids = [...first.calls, ...second.calls].map(({ id }) => id);
    expect(ids).toEqual([0, 1, 2, 3].map((step) => ids[0] - step));
    expect([first.more, (await operator.get('calls?limit=2&before=1')).body.more]).toEqual([true, false]);
  });

  test('of other roots are nobody’s business', async () => {
    await using other = await server.server.connect({ token: TOKENS.other });
    await other.ok('list_folder', { root: 'code', path: '' });
    await other.ok('list_roots');
    await other.fails('read_file', { root: 'nowhere', path: 'x' });
    await server.agent.ok('list_roots');
    await server.agent.ok('list_folder', { root: 'docs', path: '' });
    await operator.until('calls?limit=1', (body) => body.calls[0]?.root === 'docs');
    const [all, his] = [await calls(operator), await calls(writer)];
    expect(new Set(his.map(({ root }: { root: string }) => root))).toEqual(new Set(['docs']));
    expect(all.filter(({ tool }: { tool: string }) => tool === 'list_roots')).toHaveLength(2);
    expect(all.filter(({ root }: { root: string }) => root === 'nowhere')).toHaveLength(1);
    expect(his.length).toBeLessThan(all.length);
  });

  test('arrive in the stream of those who may see them', async () => {
    using all = await operator.events();
    using his = await writer.events();
    await server.agent.ok('list_folder', { root: 'code', path: '' });
    await server.agent.ok('list_folder', { root: 'docs', path: '' });
    type Calls = { root: string; tool: string }[];
    const isCalls = (data: Calls) => Array.isArray(data) && data.some(({ root }) => root === 'docs');
    const seen = await eventWith<Calls>(all, isCalls);
    expect(seen.map(({ root }) => root)).toContain('docs');
    expect((await eventWith<Calls>(his, isCalls)).map(({ root }) => root)).toEqual(['docs']);
  });
});

describe('figures', () => {
  test('count the calls of a second by tool, as far as one sees their roots', async () => {
    await using fresh = await ConsoleServer.start();
    const [boss, clerk] = [await fresh.signIn('operator'), await fresh.signIn('writer')];
    for (let index = 0; index < 10; index += 1) await fresh.agent.ok('list_folder', { root: 'code', path: '' });
    await fresh.agent.fails('read_file', { root: 'code', path: '../x' });
    type Second = { calls: number; errors: number; violations: number; tools: Record<string, { calls: number }> };
    const sum = (seconds: Second[], of: (second: Second) => number) => seconds.reduce((all, one) => all + of(one), 0);
    const figures = await boss.until('figures', (seconds) => sum(seconds, ({ calls }) => calls) >= 11);
    expect(sum(figures, ({ errors }) => errors)).toBe(1);
    expect(sum(figures, ({ violations }) => violations)).toBe(1);
    expect(sum(figures, ({ tools }) => tools.list_folder?.calls ?? 0)).toBe(10);
    const busy = figures.find(({ tools }: Second) => tools.list_folder !== undefined).tools.list_folder;
    expect(busy.p50).toBeGreaterThan(0);
    expect(busy.p95).toBeGreaterThanOrEqual(busy.p50);
    expect(sum((await clerk.get('figures')).body, ({ calls }) => calls)).toBe(0);
    const { body } = await boss.get('state');
    expect(body.clients).toMatchObject([
      { client: 'ringfence-tests', token: 'agent', calls: 11, errors: 1, violations: 1 },
    ]);
    expect(body.clients[0].sessions).toBe(1);
    expect((await clerk.get('state')).body.clients).toEqual([]);
  });
});

describe('the state', () => {
  test('has the roots, tokens and clients of whoever asks', async () => {
    const { body } = await operator.get('state');
    expect(body).toMatchObject({ version: expect.any(String), me: { name: 'operator', roots: ['code', 'docs'] } });
    expect(body.roots[0]).toMatchObject({
      name: 'code',
      kind: 'folder',
      read_only: false,
      guards: { deny: 1, protect: expect.any(Number), confirm: ['remove_folder'] },
      history: {
        changes: expect.any(Number),
        kept_bytes: expect.any(Number),
        max_bytes: 1024 ** 3,
        keep_seconds: 604_800,
      },
    });
    expect(body.tokens.map(({ name }: { name: string }) => name)).toEqual([
      'agent',
      'other',
      'operator',
      'writer',
      'guest',
    ]);
    const his = (await writer.get('state')).body;
    expect(his.roots.map(({ name }: { name: string }) => name)).toEqual(['docs']);
    expect(his.tokens).toContainEqual({ name: 'agent', roots: ['docs'], console: false });
    expect(JSON.stringify(his)).not.toContain('code');
    for (const token of Object.values(TOKENS)) expect(JSON.stringify(body)).not.toContain(token);
    expect(JSON.stringify(body)).not.toContain(server.host('code', ''));
  });
});

describe('running calls', () => {
  test('are listed with their progress, and stopped by whoever sees them', async () => {
    server.placeHuge('code', 'huge.bin');
    const call = server.agent.call('hash_file', { root: 'code', path: 'huge.bin', algorithm: 'md5' });
    const state = await operator.until('state', ({ running }) => (running[0]?.progress?.done ?? 0) > 0);
    expect(state.running).toMatchObject([
      { tool: 'hash_file', dialect: 'workspace', root: 'code', path: 'huge.bin', client: 'ringfence-tests' },
    ]);
    const [{ id, started }] = state.running;
    expect(Math.abs(Date.now() - started)).toBeLessThan(60_000);
    expect((await writer.get('state')).body.running).toEqual([]);
    expect((await writer.post(`running/${id}/stop`)).status).toBe(404);
    expect((await operator.post(`running/${id}/stop`)).status).toBe(204);
    const { isError, text } = await call;
    expect([isError, text]).toEqual([true, expect.stringContaining('cancelled')]);
    await operator.until('state', ({ running }) => running.length === 0);
    expect((await operator.post(`running/${id}/stop`)).status).toBe(404);
  });
});

describe('approvals', () => {
  // What a failed test left would confuse the next one.
  afterEach(async () => {
    const guest = await server.signIn('guest');
    for (const { id } of (await guest.get('state')).body.approvals)
      await guest.post(`approvals/${id}`, { answer: 'refuse' });
  });

  const remove = (path: string, root: 'code' | 'docs' = 'code') => {
    server.place(root, `${path}/f.txt`, 'content');
    return server.agent.call('remove_folder', { root, path });
  };
  const waiting = async (user: ConsoleUser) =>
    (await user.until('state', ({ approvals }) => approvals.length > 0)).approvals;

  test('a call of a client that can ask nobody waits, and goes on when a person allows it', async () => {
    const call = remove('old');
    const [approval] = await waiting(operator);
    expect(approval).toMatchObject({
      tool: 'remove_folder',
      root: 'code',
      path: 'old',
      client: 'ringfence-tests',
      own: false,
    });
    expect(approval.message).toBe(
      'Allow remove_folder on "old" (root: code)? If so, the folder would be deleted, with 1 file (7 bytes) in it.',
    );
    expect(approval.expires - approval.time).toBe(60_000);
    expect((await operator.get('state')).body.running).toEqual([]);
    expect((await operator.post(`approvals/${approval.id}`, { answer: 'allow' })).status).toBe(204);
    expect((await call).isError).toBe(false);
    expect(server.text('code', 'old/f.txt')).toBe(undefined);
    expect((await operator.get('state')).body.approvals).toEqual([]);
    expect((await operator.post(`approvals/${approval.id}`, { answer: 'allow' })).status).toBe(404);
    const line = await server.server.waitForLog(({ tool, confirmation }) => tool === 'remove_folder' && confirmation);
    expect(line).toMatchObject({ confirmation: 'agreed', outcome: 'success' });
  });

  test('it fails when a person refuses it', async () => {
    const call = remove('kept');
    const [{ id }] = await waiting(operator);
    expect((await operator.post(`approvals/${id}`, { answer: 'refuse' })).status).toBe(204);
    expect((await call).text).toContain('the person who was asked said no; nothing was changed');
    expect(server.text('code', 'kept/f.txt')).toBe('content');
  });

  test('only whoever sees the root is asked', async () => {
    const call = remove('kept');
    const [{ id }] = await waiting(operator);
    expect((await writer.get('state')).body.approvals).toEqual([]);
    expect((await writer.post(`approvals/${id}`, { answer: 'allow' })).status).toBe(404);
    await operator.post(`approvals/${id}`, { answer: 'refuse' });
    expect((await call).isError).toBe(true);
    const his = remove('drafts', 'docs');
    const [{ id: docs }] = await waiting(writer);
    expect((await writer.post(`approvals/${docs}`, { answer: 'allow' })).status).toBe(204);
    expect((await his).isError).toBe(false);
  });

  test('nobody agrees to a call of their own token', async () => {
    await using own = await server.server.connect({ token: TOKENS.operator });
    server.place('code', 'own/f.txt', 'content');
    const call = own.call('remove_folder', { root: 'code', path: 'own' });
    const [approval] = await waiting(operator);
    expect(approval.own).toBe(true);
    for (const answer of ['allow', 'refuse']) {
      const { status, body } = await operator.post(`approvals/${approval.id}`, { answer });
      expect([status, body.error]).toEqual([403, expect.stringContaining('made with your own token')]);
    }
    const guest = await server.signIn('guest');
    expect((await guest.post(`approvals/${approval.id}`, { answer: 'allow' })).status).toBe(204);
    expect((await call).isError).toBe(false);
  });

  test('a call that is cancelled does not wait any longer', async () => {
    server.place('code', 'gone/f.txt', 'content');
    const controller = new AbortController();
    const call = server.agent.call('remove_folder', { root: 'code', path: 'gone' }, { signal: controller.signal });
    await waiting(operator);
    controller.abort();
    await expect(call).rejects.toThrow();
    await operator.until('state', ({ approvals }) => approvals.length === 0);
    expect(server.text('code', 'gone/f.txt')).toBe('content');
  });

  test('a person at the client is asked first', async () => {
    const person = new Person('legacy');
    person.answer('accept');
    await using asked = await server.server.connect({ token: TOKENS.agent, client: person.client });
    server.place('code', 'asked/f.txt', 'content');
    expect((await asked.call('remove_folder', { root: 'code', path: 'asked' })).isError).toBe(false);
    expect(person.questions()).toHaveLength(1);
  });

  test.each(['legacy', 'modern'] as const)('the question also arrives in the stream (%s)', async (era) => {
    await using agent = await server.server.connect({ token: TOKENS.agent, era });
    using events = await operator.events();
    server.place('code', `${era}/f.txt`, 'content');
    const call = agent.call('remove_folder', { root: 'code', path: era });
    type Waiting = { id: string; expires: number; message: string }[];
    const [approval] = await eventWith<Waiting>(
      events,
      (data) => Array.isArray(data) && data[0]?.message !== undefined,
    );
    expect((await operator.post(`approvals/${approval?.id}`, { answer: 'allow' })).status).toBe(204);
    expect((await call).isError).toBe(false);
  });
});

test('nobody has to wait forever: no answer within confirm_timeout is a no', async () => {
  await using hasty = await ConsoleServer.start({ confirm_timeout: 0.5 });
  hasty.place('code', 'old/f.txt', 'content');
  const { text } = await hasty.agent.call('remove_folder', { root: 'code', path: 'old' });
  expect(text).toContain('nobody answered within 0.5 seconds; nothing was changed');
});

test('a server that is stopped ends the streams of events', async () => {
  await using stopped = await ConsoleServer.start();
  using events = await (await stopped.signIn('operator')).events();
  expect(await stopped.server.stop()).toBe(0);
  expect(await events.rest()).toBeInstanceOf(Array);
});
