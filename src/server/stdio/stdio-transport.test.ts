import { PassThrough, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { StdioTransport } from './stdio-transport.ts';

const MIB = 1024 * 1024;
const ping = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, method: 'ping' });
const line = (id: number): string => `${JSON.stringify(ping(id))}\n`;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The client's end. It takes what is written at once, or piece by piece if it is slow. */
class Reader extends Writable {
  readonly writes: string[] = [];
  #taken: ((error?: Error) => void)[] = [];
  readonly #slow: boolean;

  constructor(slow: boolean) {
    super({ highWaterMark: 1024 });
    this.#slow = slow;
    this.on('error', () => {});
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.writes.push(String(chunk));
    if (this.#slow) this.#taken.push(done);
    else done();
  }

  take(error?: Error): void {
    for (const done of this.#taken.splice(0)) done(error);
  }

  get ids(): number[] {
    const lines = this.writes.join('').split('\n').slice(0, -1);
    return lines.map((text) => JSON.parse(text).id);
  }
}

/** Admits eight messages in each turn of the event loop. */
function fewAtOnce(): () => Promise<void> | undefined {
  let left = 8;
  return () => {
    left -= 1;
    if (left > 0) return undefined;
    left = 8;
    return turn();
  };
}

async function connected({ slow = false } = {}) {
  const input = new PassThrough();
  const output = new Reader(slow);
  const transport = new StdioTransport({ input, output, scheduler: { admit: fewAtOnce() } });
  const messages: JSONRPCMessage[] = [];
  const errors: string[] = [];
  let closes = 0;
  transport.receiver = { receive: (message) => void messages.push(message) };
  transport.onerror = (error) => void errors.push(error.message);
  transport.onclose = () => {
    closes += 1;
  };
  transport.start();
  /** Sends chunks one after another, as a pipe would hand them over. */
  const receive = async (...chunks: (string | Buffer)[]): Promise<void> => {
    for (const chunk of chunks) {
      input.write(chunk);
      await turn();
    }
  };
  return { input, output, transport, messages, errors, receive, closes: () => closes };
}

test('a message split over chunks, also in the middle of a character, is one message', async () => {
  const { receive, messages, errors } = await connected();
  const message = { jsonrpc: '2.0', method: 'grüße 🙂' };
  const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
  await receive(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)));
  expect([messages, errors]).toEqual([[message], []]);
});

test('several messages in one chunk come in order, with the rest of the last one later', async () => {
  const { receive, messages } = await connected();
  const text = line(1) + line(2) + line(3);
  await receive(text.slice(0, -4));
  expect(messages).toEqual([ping(1), ping(2)]);
  await receive(text.slice(-4) + line(4));
  expect(messages).toEqual([ping(1), ping(2), ping(3), ping(4)]);
});

test('lines may end in CRLF, and empty ones are nothing', async () => {
  const { receive, messages, errors } = await connected();
  await receive(`\r\n\n  \n${line(1).replace('\n', '\r\n')}\n`);
  expect([messages, errors]).toEqual([[ping(1)], []]);
});

test.each([
  ['no JSON', '{"jsonrpc":'],
  ['not UTF-8', Buffer.from('{"jsonrpc":"2.0","method":"\xff"}', 'latin1')],
  ['a number', '5'],
  ['null', 'null'],
  ['an empty batch', '[]'],
  ['another object', '{"method":"ping"}'],
  ['an older JSON-RPC', '{"jsonrpc":"1.0","method":"ping"}'],
])('a line that is %s is refused, and the next one is received', async (_, wrong) => {
  const { receive, messages, errors, closes, output } = await connected();
  await receive(wrong, '\n', line(1));
  expect([messages, errors.length, closes()]).toEqual([[ping(1)], 1, 0]);
  expect(JSON.parse(output.writes.join(''))).toMatchObject({ id: null, error: { code: expect.any(Number) } });
});

test.each([
  ['params that are null', { method: 'tools/call', params: null }],
  ['params that are a text', { method: 'tools/call', params: 'x' }],
  ['a method that is a number', { method: 5 }],
  ['neither method nor result', {}],
  ['_meta that is a number', { method: 'ping', params: { _meta: 5 } }],
  ['a progress token that is an object', { method: 'ping', params: { _meta: { progressToken: {} } } }],
  ['a task without id', { method: 'ping', params: { _meta: { 'io.modelcontextprotocol/related-task': {} } } }],
])('a request with %s is refused by its id', async (_, wrong) => {
  const { receive, messages, output } = await connected();
  await receive(`${JSON.stringify({ jsonrpc: '2.0', id: 7, ...wrong })}\n`, line(1));
  expect(messages).toEqual([ping(1)]);
  expect(JSON.parse(output.writes.join(''))).toMatchObject({ id: 7, error: { code: -32600 } });
});

test('the messages of a batch are received one by one', async () => {
  const { receive, messages, errors } = await connected();
  await receive(`[${line(1).trim()},${line(2).trim()}]\n`);
  expect([messages, errors]).toEqual([[ping(1), ping(2)], []]);
});

test('a last line without a newline is received when the input ends', async () => {
  const { input, receive, messages } = await connected();
  await receive(line(1).trim());
  expect(messages).toEqual([]);
  input.end();
  await turn();
  expect(messages).toEqual([ping(1)]);
});

test('a message of up to 10 MiB is received, a larger one is refused by its id, and the next one is received', async () => {
  const { receive, messages, errors, output } = await connected();
  const chunk = Buffer.alloc(MIB, ' ');
  await receive(...Array(9).fill(chunk), line(1));
  expect([messages, errors]).toEqual([[ping(1)], []]);
  await receive('{"jsonrpc":"2.0","id":7,"method":"x"', ...Array(11).fill(chunk), '}\n', line(2));
  expect([messages, errors]).toEqual([[ping(1), ping(2)], ['message too large: at most 10485760 bytes']]);
  expect(JSON.parse(output.writes.join(''))).toMatchObject({ id: 7, error: { code: -32600 } });
});

test('what is sent in one turn goes out in order, in two writes', async () => {
  const { output, transport } = await connected();
  const ids = Array.from({ length: 50 }, (_, id) => id);
  await Promise.all(ids.map((id) => transport.send(ping(id))));
  expect(output.ids).toEqual(ids);
  expect(output.writes).toHaveLength(2);
  await transport.send(ping(50));
  expect(output.ids.at(-1)).toBe(50);
});

test('pieces of a message are one message, before others and behind them', async () => {
  const { output, transport } = await connected();
  const pieces = (id: number): Buffer[] =>
    line(id)
      .trim()
      .split(/(?=,)/)
      .map((part) => Buffer.from(part));
  transport.post(pieces(1));
  transport.post(line(2).trim());
  transport.post(pieces(3));
  await transport.send(ping(4));
  expect(output.ids).toEqual([1, 2, 3, 4]);
});

test('a slow reader is waited for, with nothing lost, nothing reordered and no listener left', async () => {
  const { output, transport } = await connected({ slow: true });
  const before = output.listenerCount('drain') + output.listenerCount('close');
  const big = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, method: 'x'.repeat(2_000) });
  let sent = 0;
  const count = (): void => {
    sent += 1;
  };
  const sends = Array.from({ length: 30 }, (_, id) => transport.send(big(id)).then(count));
  await turn();
  expect([output.writes.length, sent]).toEqual([1, 0]);
  for (let id = 30; id < 60; id += 1) {
    output.take();
    await turn();
    sends.push(transport.send(big(id)).then(count));
  }
  while (sent < 60) {
    output.take();
    await turn();
  }
  await Promise.all(sends);
  expect(output.ids).toEqual(Array.from({ length: 60 }, (_, id) => id));
  expect(output.listenerCount('drain') + output.listenerCount('close')).toBe(before);
});

test.each([
  ['breaks', (output: Reader) => output.take(new Error('EPIPE'))],
  ['is closed', (output: Reader) => void output.destroy()],
])('when the output %s, what was not written is refused, and so is what comes later', async (_, end) => {
  const { output, transport, closes } = await connected({ slow: true });
  const big: JSONRPCMessage = { jsonrpc: '2.0', method: 'x'.repeat(2_000) };
  const sends = [transport.send(big), transport.send(ping(1))];
  await turn();
  end(output);
  for (const send of sends) await expect(send).rejects.toThrow('the output is closed');
  await expect(transport.send(ping(2))).rejects.toThrow('the output is closed');
  await transport.close();
  expect([output.writes.length, closes()]).toEqual([1, 1]);
});

test('of many lines in one chunk a few are received per turn, in order, and no more is read meanwhile', async () => {
  const { input, transport, messages } = await connected();
  const all = Array.from({ length: 100 }, (_, id) => ping(id));
  input.write(all.map((_, id) => line(id)).join(''));
  await turn();
  expect([transport.isBehind, input.isPaused()]).toEqual([true, true]);
  expect(messages.length).toBeLessThan(50);
  input.write(line(100));
  for (let turns = 0; transport.isBehind && turns < 100; turns += 1) await turn();
  await turn();
  expect(messages).toEqual([...all, ping(100)]);
  expect(input.isPaused()).toBe(false);
});

test('messages of a client with too much unread output wait until it has read, and every one is answered', async () => {
  const { input, output, transport, messages } = await connected({ slow: true });
  const long = 'x'.repeat(5 * MIB);
  transport.receiver = {
    receive: (message) => {
      messages.push(message);
      transport.post(JSON.stringify({ ...message, long }));
    },
  };
  input.write(Array.from({ length: 40 }, (_, id) => line(id)).join(''));
  for (let turns = 0; turns < 20; turns += 1) await turn();
  expect(messages.length).toBeGreaterThan(8);
  expect(messages.length).toBeLessThan(30);
  for (let turns = 0; (messages.length < 40 || output.writableLength > 0) && turns < 500; turns += 1) {
    output.take();
    await turn();
  }
  expect(output.ids).toEqual(Array.from({ length: 40 }, (_, id) => id));
});

test('closing drops lines that are not handled yet', async () => {
  const { input, transport, messages } = await connected();
  input.write(Array.from({ length: 100 }, (_, id) => line(id)).join(''));
  await turn();
  const heard = messages.length;
  await transport.close();
  await turn();
  await turn();
  expect(heard).toBeLessThan(100);
  expect(messages).toHaveLength(heard);
  expect(input.isPaused()).toBe(true);
});

test('closing writes what was sent, and receives no more', async () => {
  const { output, receive, transport, messages, closes } = await connected();
  void transport.send(ping(1));
  void transport.send(ping(2));
  await transport.close();
  expect([output.ids, closes()]).toEqual([[1, 2], 1]);
  await receive(line(3));
  expect(messages).toEqual([]);
});

test('the end of the input is not the end of the connection', async () => {
  const { input, output, transport, closes } = await connected();
  input.end();
  await turn();
  await transport.send(ping(1));
  expect([output.ids, closes()]).toEqual([[1], 0]);
});
