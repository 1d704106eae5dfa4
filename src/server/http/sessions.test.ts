import { Server } from '@modelcontextprotocol/server';
import { expect, test, vi } from 'vitest';
import { Roots } from '../../tools/roots.ts';
import type { Principal } from '../call/principals.ts';
import { type ActiveSession, Sessions } from './sessions.ts';

const newServer = () => ({
  server: new Server({ name: 'test', version: '0' }, { capabilities: {} }),
  peer: { client: undefined, roots: new Roots([]) },
});

async function initialize(sessions: Sessions, owner?: Principal): Promise<string | undefined> {
  const entered = await sessions.open(owner);
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
  const [one, other] = [{}, {}] as Principal[];
  const sessions = new Sessions(newServer);
  const id = await initialize(sessions, one);
  expect(sessions.enter(id ?? '', other)).toBeUndefined();
  expect(sessions.enter(id ?? '')).toBeUndefined();
  expect(sessions.enter(id ?? '', one)).toBeDefined();
  await sessions.close();
});

test('onclose is called once when a session ends, for any reason', async () => {
  const ended: (Principal | undefined)[] = [];
  const owners = [{}, {}, {}] as Principal[];
  const telling = (owner: Principal | undefined) => {
    const made = newServer();
    made.server.onclose = () => void ended.push(owner);
    return made;
  };
  const sessions = new Sessions(telling, { maxSessions: 2, idleMs: 60_000 });
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
  const sessions = new Sessions(newServer, { maxSessions: 2, idleMs: 60_000 });
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
  const sessions = new Sessions(newServer, { maxSessions: 1, idleMs: 60_000 });
  const used = sessions.enter((await initialize(sessions)) ?? '');
  expect(await sessions.open()).toBeUndefined();
  used?.leave();
  expect(await sessions.open()).toBeDefined();
  await sessions.close();
});

test('sessions that are being opened count', async () => {
  const sessions = new Sessions(newServer, { maxSessions: 2, idleMs: 60_000 });
  const entered = await Promise.all([sessions.open(), sessions.open(), sessions.open()]);
  expect(entered.map((session) => session !== undefined)).toEqual([true, true, false]);
  const ids = await Promise.all(entered.flatMap((session) => (session === undefined ? [] : [finish(session)])));
  expect(sessions.size).toBe(2);
  expect(await initialize(sessions)).toBeDefined();
  expect([sessions.size, sessions.enter(ids[0] ?? '')]).toEqual([2, undefined]);
  await sessions.close();
});

test('a session is not evicted before its first answer is sent', async () => {
  const sessions = new Sessions(newServer, { maxSessions: 1, idleMs: 60_000 });
  const first = await sessions.open();
  const id = await finish({ ...(first as ActiveSession), leave: () => {} });
  expect(await sessions.open()).toBeUndefined();
  first?.leave();
  expect(sessions.enter(id ?? '')).toBeDefined();
  await sessions.close();
});

test('an initialization that failed takes no room', async () => {
  const sessions = new Sessions(newServer, { maxSessions: 1, idleMs: 60_000 });
  (await sessions.open())?.leave();
  expect([sessions.size, await initialize(sessions)]).toEqual([0, expect.any(String)]);
  await sessions.close();
  const broken = new Sessions(
    () => {
      throw new Error('no server');
    },
    { maxSessions: 1, idleMs: 60_000 },
  );
  for (const _ of [1, 2]) await expect(broken.open()).rejects.toThrow('no server');
  await broken.close();
});

test('a session unused for too long is forgotten, one in use is not', async () => {
  vi.useFakeTimers();
  const sessions = new Sessions(newServer, { maxSessions: 10, idleMs: 1_000 });
  const [idle, busy] = [await initialize(sessions), await initialize(sessions)];
  sessions.enter(busy ?? '');
  vi.advanceTimersByTime(5_000);
  vi.useRealTimers();
  expect(sessions.enter(idle ?? '')).toBeUndefined();
  expect(sessions.enter(busy ?? '')).toBeDefined();
  await sessions.close();
});
