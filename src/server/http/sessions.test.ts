import { Server } from '@modelcontextprotocol/server';
import { expect, test, vi } from 'vitest';
import { MemoryStore } from '../../cluster/memory-store.ts';
import { Roots } from '../../tools/roots.ts';
import { principalClient } from '../clients/peer.ts';
import type { Principal } from '../clients/principals.ts';
import { SessionIds } from '../sessions/session-id.ts';
import { SigningKeys } from '../sessions/signing-keys.ts';
import type { NewSession } from './http-session.ts';
import { type ActiveSession, Sessions } from './sessions.ts';

const CLIENT = { protocolVersion: '2025-06-18', name: 't', capabilities: {} };
const principal = (name: string): Principal => ({
  client: principalClient(name),
  roots: new Roots([]),
  console: false,
});

const newServer = () => ({
  server: new Server({ name: 'test', version: '0' }, { capabilities: {} }),
  peer: { client: undefined, roots: new Roots([]) },
});

async function initialize(sessions: Sessions, owner?: Principal): Promise<string | undefined> {
  const entered = await sessions.open(CLIENT, owner);
  return entered && finish(entered);
}

async function finish({ transport, leave }: ActiveSession): Promise<string | undefined> {
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '0' } },
  };
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const request = new Request('http://localhost/mcp', { method: 'POST', headers });
  const response = await transport.handleRequest(request, { parsedBody: body });
  await response.text();
  leave();
  return response.headers.get('mcp-session-id') ?? undefined;
}

test('a session is found by its id, and by no other', async () => {
  const sessions = new Sessions(newServer);
  const id = await initialize(sessions);
  expect(sessions.enter(id ?? '')).toBeDefined();
  expect(sessions.enter('other')).toBeUndefined();
  await sessions.close();
  expect(sessions.size).toBe(0);
});

test('a session answers to its owner alone', async () => {
  const [one, other] = [principal('one'), principal('other')];
  const sessions = new Sessions(newServer);
  const id = await initialize(sessions, one);
  expect(sessions.enter(id ?? '', other)).toBeUndefined();
  expect(sessions.enter(id ?? '')).toBeUndefined();
  expect(sessions.enter(id ?? '', one)).toBeDefined();
  await sessions.close();
});

test('onclose is called once when a session ends, for any reason', async () => {
  const ended: (Principal | undefined)[] = [];
  const owners = ['a', 'b', 'c'].map(principal);
  const telling = ({ owner }: NewSession) => {
    const made = newServer();
    made.server.onclose = () => void ended.push(owner);
    return made;
  };
  const sessions = new Sessions(telling, { limits: { maxSessions: 2, idleMs: 60_000 } });
  const first = await initialize(sessions, owners[0]);
  await initialize(sessions, owners[1]);
  const { transport, leave } = sessions.enter(first ?? '', owners[0]) as ActiveSession;
  const headers = { 'mcp-session-id': first ?? '' };
  await transport.handleRequest(new Request('http://localhost/mcp', { method: 'DELETE', headers }));
  leave();
  expect(ended).toEqual([owners[0]]);
  await initialize(sessions, owners[0]);
  await initialize(sessions, owners[2]);
  expect(ended).toEqual([owners[0], owners[1]]);
  await sessions.close();
  expect(ended).toEqual([owners[0], owners[1], owners[0], owners[2]]);
});

test('when all are taken the longest unused makes room', async () => {
  const sessions = new Sessions(newServer, { limits: { maxSessions: 2, idleMs: 60_000 } });
  const [first, second] = [await initialize(sessions), await initialize(sessions)];
  sessions.enter(first ?? '')?.leave();
  const third = await initialize(sessions);
  expect(sessions.size).toBe(2);
  expect(sessions.enter(second ?? '')).toBeUndefined();
  expect(sessions.enter(first ?? '')).toBeDefined();
  expect(sessions.enter(third ?? '')).toBeDefined();
  await sessions.close();
});

test('sessions with a request under way are not evicted: a new client has to wait', async () => {
  const sessions = new Sessions(newServer, { limits: { maxSessions: 1, idleMs: 60_000 } });
  const used = sessions.enter((await initialize(sessions)) ?? '');
  expect(await sessions.open(CLIENT)).toBeUndefined();
  used?.leave();
  expect(await sessions.open(CLIENT)).toBeDefined();
  await sessions.close();
});

test('sessions that are being opened count', async () => {
  const sessions = new Sessions(newServer, { limits: { maxSessions: 2, idleMs: 60_000 } });
  const entered = await Promise.all([sessions.open(CLIENT), sessions.open(CLIENT), sessions.open(CLIENT)]);
  expect(entered.map((session) => session !== undefined)).toEqual([true, true, false]);
  const ids = await Promise.all(entered.flatMap((session) => (session === undefined ? [] : [finish(session)])));
  expect(sessions.size).toBe(2);
  expect(await initialize(sessions)).toBeDefined();
  expect([sessions.size, sessions.enter(ids[0] ?? '')]).toEqual([2, undefined]);
  await sessions.close();
});

test('a session is not evicted before its first answer is sent', async () => {
  const sessions = new Sessions(newServer, { limits: { maxSessions: 1, idleMs: 60_000 } });
  const first = await sessions.open(CLIENT);
  const id = await finish({ ...(first as ActiveSession), leave: () => {} });
  expect(await sessions.open(CLIENT)).toBeUndefined();
  first?.leave();
  expect(sessions.enter(id ?? '')).toBeDefined();
  await sessions.close();
});

test('an initialization that failed takes no room', async () => {
  const sessions = new Sessions(newServer, { limits: { maxSessions: 1, idleMs: 60_000 } });
  (await sessions.open(CLIENT))?.leave();
  expect([sessions.size, await initialize(sessions)]).toEqual([0, expect.any(String)]);
  await sessions.close();
  const broken = new Sessions(
    () => {
      throw new Error('no server');
    },
    { limits: { maxSessions: 1, idleMs: 60_000 } },
  );
  for (const _ of [1, 2]) await expect(broken.open(CLIENT)).rejects.toThrow('no server');
  await broken.close();
});

test('a session unused for too long is forgotten, one in use is not', async () => {
  vi.useFakeTimers();
  const sessions = new Sessions(newServer, { limits: { maxSessions: 10, idleMs: 1_000 } });
  const [idle, busy] = [await initialize(sessions), await initialize(sessions)];
  sessions.enter(busy ?? '');
  vi.advanceTimersByTime(5_000);
  vi.useRealTimers();
  expect(sessions.enter(idle ?? '')).toBeUndefined();
  expect(sessions.enter(busy ?? '')).toBeDefined();
  await sessions.close();
});

async function resume(sessions: Sessions, id: string, owner?: Principal): Promise<ActiveSession> {
  const session = await sessions.resume(id, owner);
  if (typeof session === 'string') throw new Error(session);
  return session;
}

test('a session that was closed for being idle goes on by its id, as the same client', async () => {
  const seen: NewSession[] = [];
  const servers: Server[] = [];
  const recording = (session: NewSession) => {
    seen.push(session);
    const made = newServer();
    servers.push(made.server);
    return made;
  };
  const sessions = new Sessions(recording, { limits: { maxSessions: 1, idleMs: 60_000 }, dialect: 'd' });
  const capabilities = { sampling: { tools: {} }, elicitation: { form: {} } };
  const first = await sessions.open({ ...CLIENT, name: 'first', capabilities });
  const id = (await finish(first as ActiveSession)) ?? '';
  await initialize(sessions);
  expect(sessions.enter(id)).toBeUndefined();
  (await resume(sessions, id)).leave();
  expect([sessions.size, sessions.enter(id)]).toEqual([1, expect.anything()]);
  expect(seen[2]).toEqual(seen[0]);
  expect(servers[2]?.getClientCapabilities()).toEqual(capabilities);
  expect(servers[2]?.getClientVersion()?.name).toBe('first');
  expect(servers[2]?.getNegotiatedProtocolVersion()).toBe('2025-06-18');
  await sessions.close();
});

test('replicas with the same secret go on with the sessions of each other, and others do not', async () => {
  const ids = (secret: string) => new SessionIds(new SigningKeys([secret]));
  const at = (secret: string, dialect = 'd') => new Sessions(newServer, { dialect, ids: ids(secret) });
  const all = [at('a'), at('a'), at('b'), at('a', 'e')] as const;
  const [one, other, foreign, elsewhere] = all;
  const ada = principal('ada');
  const id = (await initialize(one, ada)) ?? '';
  // The same name is the same principal, though not the same object.
  (await resume(other, id, principal('ada'))).leave();
  expect(other.enter(id, ada)).toBeDefined();
  for (const owner of [undefined, principal('bob')]) {
    expect(await other.resume(id, owner)).toBe('unknown');
    expect(other.enter(id, owner)).toBeUndefined();
  }
  expect(await foreign.resume(id, ada)).toBe('unknown');
  expect(await elsewhere.resume(id, ada)).toBe('unknown');
  await Promise.all(all.map((sessions) => sessions.close()));
});

test('a session that is ended at one replica is ended at all', async () => {
  const store = new MemoryStore();
  const ids = new SessionIds();
  const replica = () => new Sessions(newServer, { ids, store });
  const [one, other, third] = [replica(), replica(), replica()];
  const id = (await initialize(one)) ?? '';
  (await resume(other, id)).leave();
  await other.end(id);
  await expect.poll(() => one.enter(id)).toBeUndefined();
  for (const sessions of [one, other, third]) expect(await sessions.resume(id)).toBe('unknown');
  expect([one.size, other.size, third.size]).toEqual([0, 0, 0]);
  await Promise.all([one.close(), other.close(), third.close()]);
});

test('requests that come at once for an unknown session share one, and too many are refused', async () => {
  const ids = new SessionIds();
  const one = new Sessions(newServer, { ids });
  const other = new Sessions(newServer, { ids, limits: { maxSessions: 1, idleMs: 60_000 } });
  const [id = '', more = ''] = [await initialize(one), await initialize(one)];
  const entered = await Promise.all(Array.from({ length: 10 }, () => resume(other, id)));
  expect(other.size).toBe(1);
  expect(new Set(entered.map(({ transport }) => transport)).size).toBe(1);
  expect(await other.resume(more)).toBe('too_many');
  for (const { leave } of entered) leave();
  (await resume(other, more)).leave();
  expect([other.size, other.enter(id)]).toEqual([1, undefined]);
  await Promise.all([one.close(), other.close()]);
});
