import { once } from 'node:events';
import net from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { RedisConnection } from './redis-connection.ts';
import { StoreUnavailable } from './shared-store.ts';

/** The beginning of what Redis 6.2 answers if a command in a script fails. Later versions leave it out. */
const IN_SCRIPT = 'ERR Error running script (call to f_d8f2): @user_script:3: @user_script: 3: ';

/** A server that answers each command as Redis does, with what it is told to; with nothing, if that is undefined. */
class FakeRedis {
  answer: string | undefined = '+OK';
  connections = 0;
  readonly #sockets = new Set<net.Socket>();
  readonly #server = net.createServer((socket) => {
    this.connections += 1;
    this.#sockets.add(socket);
    // Each command of these tests arrives in one piece.
    socket.on('data', (data) => {
      const isInfo = /\r\ninfo\r\n/i.test(String(data));
      if (isInfo) socket.write('$9\r\nloading:0\r\n');
      else if (this.answer !== undefined) socket.write(`${this.answer}\r\n`);
    });
    socket.on('error', () => {});
  });

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `redis://127.0.0.1:${(this.#server.address() as net.AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

let redis: FakeRedis;
let connection: RedisConnection;
let events: string[];
afterEach(() => {
  connection.close();
  redis.close();
});

async function connect(): Promise<void> {
  redis = new FakeRedis();
  events = [];
  connection = new RedisConnection({
    url: await redis.start(),
    probe: async () => {},
    lost: (problem) => events.push(problem),
    back: () => events.push('back'),
  });
  await connection.run((client) => client.get('x'));
}

async function problem(): Promise<string> {
  const error = await connection.run((client) => client.get('x')).catch((thrown: unknown) => thrown);
  return error instanceof StoreUnavailable ? error.details.problem : `no StoreUnavailable: ${error}`;
}

test.each([
  ["-OOM command not allowed when used memory > 'maxmemory'.", 'full'],
  [`-${IN_SCRIPT}-OOM command not allowed when used memory > 'maxmemory'.`, 'full'],
  ['-WRONGPASS invalid username-password pair or user is disabled.', 'wrong_password'],
  ['-ERR unknown command, with args beginning with: -OOM ', 'failed'],
])('%s is named', async (answer, name) => {
  await connect();
  redis.answer = answer;
  expect(await problem()).toBe(name);
});

test.each([
  ["-READONLY You can't write against a read only replica.", 2, 'read_only'],
  [`-${IN_SCRIPT}-READONLY You can't write against a read only replica.`, 2, 'read_only'],
  ["-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", 2, 'failed'],
  ['-ERR unknown command, with args beginning with: -READONLY ', 1, 'failed'],
])('after %s there are %i connections, and it is %s', async (answer, connections, name) => {
  await connect();
  redis.answer = answer;
  expect(await problem()).toBe(name);
  redis.answer = '+OK';
  await expect.poll(() => connection.run((client) => client.get('x')).catch(() => undefined)).toBe('OK');
  expect(redis.connections).toBe(connections);
});

test('a command that is cut off by close is no loss of Redis', async () => {
  await connect();
  redis.answer = undefined;
  const cutOff = problem();
  connection.close();
  expect(await cutOff).toBe('unreachable');
  expect(await problem()).toBe('unreachable');
  expect(events).toEqual([]);
});
