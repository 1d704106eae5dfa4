import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { eventIdOf, originOf, ReplayBudget, ReplayBuffer } from './replay-buffer.ts';

const MIB = 1024 * 1024;
const reply = { resume() {} };
const message = (id: number, bytes = 0): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  result: { text: 'x'.repeat(bytes) },
});

async function replayed(buffer: ReplayBuffer, eventId: string): Promise<{ stream: string; ids: unknown[] }> {
  const ids: unknown[] = [];
  const stream = await buffer.replayEventsAfter(eventId, {
    send: async (id, sent) => void ids.push([id, 'id' in sent ? sent.id : undefined]),
  });
  return { stream, ids };
}

test('what followed an event is replayed, of its own stream alone', async () => {
  const buffer = new ReplayBuffer(new ReplayBudget());
  const priming = await buffer.storeEvent('a', {});
  const other = await buffer.storeEvent('b', message(1));
  const first = await buffer.storeEvent('a', message(2));
  const second = await buffer.storeEvent('a', message(3));
  expect([priming, other, first, second]).toEqual(['1-0', '2-0', '1-1', '1-2']);
  expect(await replayed(buffer, priming)).toEqual({
    stream: 'a',
    ids: [
      [first, 2],
      [second, 3],
    ],
  });
  expect(await replayed(buffer, first)).toEqual({ stream: 'a', ids: [[second, 3]] });
  expect(await replayed(buffer, other)).toEqual({ stream: 'b', ids: [] });
});

test('an id that no event had is not known', async () => {
  const buffer = new ReplayBuffer(new ReplayBudget());
  await buffer.storeEvent('a', {});
  expect(buffer.after('1-0')).toBe('sdk');
  for (const id of ['1-1', '2-0', '0-0', '1', '', 'x', '-1-0', '1-0-0', '1-0 ', `1-${'0'.repeat(20)}`]) {
    expect(buffer.after(id)).toBeUndefined();
    await expect(replayed(buffer, id)).rejects.toThrow('no such event');
  }
});

test('a session keeps its latest results within its bytes, and whole streams alone', async () => {
  const budget = new ReplayBudget();
  const buffer = new ReplayBuffer(budget);
  const ids: string[] = [];
  for (let i = 0; i < 20; i += 1) ids.push(await buffer.storeEvent(`s${i}`, message(i, MIB)));
  expect(buffer.bytes).toBeLessThanOrEqual(16 * MIB);
  expect(buffer.bytes).toBe(budget.bytes);
  expect(ids.map((id) => buffer.after(id) === 'sdk')).toEqual(ids.map((_, i) => i >= 5));
  // A stream whose beginning was dropped starts anew: its older ids are not known.
  const next = await buffer.storeEvent('s0', message(1));
  expect([buffer.after(ids[0] ?? ''), buffer.after(next)]).toEqual([undefined, 'sdk']);
});

test('the stream that was used least recently goes first', async () => {
  const buffer = new ReplayBuffer(new ReplayBudget());
  const first = await buffer.storeEvent('first', message(0));
  const second = await buffer.storeEvent('second', message(0, MIB));
  for (let i = 0; i < 10; i += 1) await buffer.storeEvent(`s${i}`, message(i, MIB));
  await buffer.storeEvent('first', message(1));
  for (let i = 10; i < 16; i += 1) await buffer.storeEvent(`s${i}`, message(i, MIB));
  expect([buffer.after(first), buffer.after(second)]).toEqual(['sdk', undefined]);
});

test('the result of a finished stream counts', () => {
  const budget = new ReplayBudget();
  const buffer = new ReplayBuffer(budget);
  const [older, newer] = [buffer.open(reply), buffer.open(reply)];
  for (const stream of [older, newer]) stream.next += 1;
  const before = buffer.bytes;
  buffer.finish(older, reply, 10 * MIB);
  expect([buffer.bytes, budget.bytes]).toEqual([before + 10 * MIB, before + 10 * MIB]);
  buffer.finish(newer, reply, 10 * MIB);
  expect([older, newer].map((stream) => buffer.after(eventIdOf(stream, 0)) !== undefined)).toEqual([false, true]);
  buffer.finish(older, reply, 10 * MIB);
  expect(buffer.bytes).toBe(budget.bytes);
  expect(buffer.bytes).toBeLessThan(11 * MIB);
});

test('a session keeps a bounded number of streams', () => {
  const buffer = new ReplayBuffer(new ReplayBudget());
  const streams = Array.from({ length: 1_500 }, () => {
    const stream = buffer.open(reply);
    stream.next += 1;
    return stream;
  });
  const kept = streams.filter((stream) => buffer.after(eventIdOf(stream, 0)) !== undefined);
  expect([kept.length, kept[0]]).toEqual([1_000, streams[500]]);
});

test('all sessions share a budget, and the one that holds most gives way', async () => {
  const budget = new ReplayBudget(10 * MIB);
  const [small, large] = [new ReplayBuffer(budget), new ReplayBuffer(budget)];
  const kept = await small.storeEvent('a', message(1, MIB));
  for (let i = 0; i < 30; i += 1) await large.storeEvent(`s${i}`, message(i, MIB));
  expect(budget.bytes).toBeLessThanOrEqual(10 * MIB);
  expect(small.after(kept)).toBe('sdk');
  large.close();
  expect(budget.bytes).toBe(small.bytes);
  small.close();
  expect(budget.bytes).toBe(0);
});

test('of many sessions that hold as much, none gives way for all the others', async () => {
  const budget = new ReplayBudget(10 * MIB);
  const buffers = Array.from({ length: 20 }, () => new ReplayBuffer(budget));
  for (let i = 0; i < 64; i += 1) {
    for (const buffer of buffers) await buffer.storeEvent(`s${i}`, message(i, MIB / 64));
  }
  expect(budget.bytes).toBeLessThanOrEqual(10 * MIB);
  expect(budget.bytes).toBeGreaterThan(9.7 * MIB);
  const held = buffers.map(({ bytes }) => bytes);
  expect(Math.min(...held)).toBeGreaterThan(Math.max(...held) * 0.9);
});

test('a finished stream expires, one under way does not', () => {
  const budget = new ReplayBudget();
  const buffer = new ReplayBuffer(budget);
  const [running, finished] = [buffer.open(reply), buffer.open(reply)];
  for (const stream of [running, finished]) stream.next += 1;
  buffer.finish(finished, reply, 100);
  const minutes = (count: number): number => performance.now() + count * 60_000;
  buffer.expire(minutes(4));
  expect(buffer.after(eventIdOf(finished, 0))).toBeDefined();
  buffer.expire(minutes(6));
  expect(buffer.after(eventIdOf(finished, 0))).toBeUndefined();
  expect(buffer.after(eventIdOf(running, 0))).toBeDefined();
});

test('the rest of a stream is kept once it has a question or the result', async () => {
  const buffer = new ReplayBuffer(new ReplayBudget(), { replica: '0123456789ab', currentRequest: () => 7 });
  const kept: (string | undefined)[] = [];
  const keep = (rest: Buffer | undefined): void => void kept.push(rest?.toString());
  const priming = await buffer.storeEvent('a', {});
  expect(priming).toBe('1-0.0123456789ab.Nw');
  expect(originOf(priming)).toEqual({ replica: '0123456789ab', request: 7 });
  buffer.keepRest(priming, () => expect.unreachable());
  buffer.keepRest(priming, keep);
  const progress = await buffer.storeEvent('a', { jsonrpc: '2.0', method: 'notifications/progress' });
  expect(kept).toEqual([]);
  const asked = { jsonrpc: '2.0', id: 0, method: 'elicitation/create' } as const;
  const question = await buffer.storeEvent('a', asked);
  const progressed = `event: message\nid: ${progress}\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n`;
  expect(kept).toEqual([`${progressed}event: message\nid: ${question}\ndata: ${JSON.stringify(asked)}\n\n`]);
  buffer.keepRest(question, keep);
  expect(kept).toHaveLength(1);
  const answer = await buffer.storeEvent('a', message(7));
  const answered = `event: message\nid: ${answer}\ndata: ${JSON.stringify(message(7))}\n\n`;
  buffer.keepRest(question, keep);
  // The client has the result already.
  buffer.keepRest(answer, keep);
  buffer.keepRest('9-0.0123456789ab.Nw', keep);
  expect(kept.slice(1)).toEqual([answered, answered, '', undefined]);
});
