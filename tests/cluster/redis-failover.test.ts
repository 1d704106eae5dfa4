import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { Valkey } from 'iovalkey';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startReplicas } from '../support/balanced-replicas.ts';
import { noRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { connectHttp, httpTransport, type ToolClient } from '../support/tool-client.ts';

const WRITERS = 4;
const BEFORE_MS = 1_500;
const AFTER_MS = 3_000;
/** How long it takes until somebody notices that a primary has crashed, and another one takes its place. */
const DETECTED_MS = 1_000;
/** What an edit answers while nobody can grant a lease. */
const REFUSED = 'cannot agree on who changes it at present';

interface Pair {
  readonly primary: RedisServer;
  readonly secondary: RedisServer;
}

const FAILOVERS: Readonly<Record<string, (pair: Pair) => Promise<void>>> = {
  async planned({ primary, secondary }) {
    await command(primary, (redis) => redis.call('FAILOVER', 'TO', '127.0.0.1', `${secondary.port}`));
    await expect.poll(() => roleOf(secondary), { timeout: 10_000 }).toBe('master');
  },
  async 'of a crashed primary'({ primary, secondary }) {
    await primary.kill();
    await later(DETECTED_MS);
    await command(secondary, (redis) => redis.replicaof('NO', 'ONE'));
  },
};

describe.skipIf(noRedis)(`a failover of Redis${noRedis === undefined ? '' : ` (skipped: ${noRedis})`}`, () => {
  test.each(Object.keys(FAILOVERS))('%s loses no edit and no session', { timeout: 60_000 }, async (kind) => {
    const primary = await startRedis();
    const secondary = await startRedis({ args: ['--replicaof', `127.0.0.1 ${primary.port}`] });
    onTestFinished(async () => {
      for (const redis of [primary, secondary]) await redis[Symbol.asyncDispose]();
    });
    await expect.poll(() => replicates(secondary), { timeout: 10_000 }).toBe(true);
    await using name = await Forwarder.start(primary.port);
    const redis = { url: name.url, [Symbol.asyncDispose]: async () => {} } as RedisServer;
    await using replicas = await startReplicas({ redis });
    const clients = await Promise.all(Array.from({ length: WRITERS }, () => connectHttp(replicas.url)));
    const ended = await connectHttp(replicas.url);
    const endedId = httpTransport(ended.client).sessionId as string;
    await httpTransport(ended.client).terminateSession();
    const file = path.join(replicas.folder, 'f');
    fs.writeFileSync(file, clients.map((_, writer) => lineOf(writer, 0)).join(''));
    let isOver = false;
    const counts = Promise.all(clients.map((client, writer) => countUp(client, writer, () => isOver)));
    await later(BEFORE_MS);
    await FAILOVERS[kind]?.({ primary, secondary });
    name.port = secondary.port;
    await later(AFTER_MS);
    const during = fs.readFileSync(file, 'latin1');
    await later(AFTER_MS);
    isOver = true;
    const made = await counts;
    const after = fs.readFileSync(file, 'latin1');
    expect(after).toBe(made.map((count, writer) => lineOf(writer, count)).join(''));
    // Edits do not only not fail, but go on.
    expect(after).not.toBe(during);
    // What the old primary knew, the new one knows.
    const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    for (const url of [replicas.url, replicas.url]) {
      const answer = await fetch(new URL('/mcp', url), {
        method: 'POST',
        headers: { ...headers, 'mcp-session-id': endedId },
        body,
      });
      expect(answer.status).toBe(404);
      await answer.text();
    }
    for (const client of clients) await client.client.close();
  });
});

const lineOf = (writer: number, count: number): string => `${writer}:${String(count).padStart(6, '0')}\n`;

/** Counts a line of the file up until it is over. Only refusals that say that nothing was changed are allowed. */
async function countUp(client: ToolClient, writer: number, isOver: () => boolean): Promise<number> {
  let count = 0;
  while (!isOver()) {
    const [old_text, new_text] = [lineOf(writer, count), lineOf(writer, count + 1)];
    const { isError, text } = await client.call('edit_file', { root: 'workspace', path: 'f', old_text, new_text });
    if (isError) expect(text).toContain(REFUSED);
    else count += 1;
  }
  return count;
}

async function command<T>({ url }: RedisServer, run: (redis: Valkey) => Promise<T>): Promise<T> {
  const redis = new Valkey(url);
  try {
    return await run(redis);
  } finally {
    redis.disconnect();
  }
}

async function roleOf(server: RedisServer): Promise<unknown> {
  return (await command(server, (redis) => redis.role()))[0];
}

async function replicates(server: RedisServer): Promise<boolean> {
  return (await command(server, (redis) => redis.info('replication'))).includes('master_link_status:up');
}

/** The name of a Redis that leads to another one after a failover, as a service of Kubernetes or a proxy does. */
class Forwarder implements AsyncDisposable {
  port: number;
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();

  private constructor(port: number) {
    this.port = port;
    this.#server = net.createServer((client) => {
      const server = net.connect(this.port, '127.0.0.1');
      for (const [one, other] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#sockets.add(one);
        one.on('error', () => other.destroy()).on('close', () => other.destroy());
        one.pipe(other);
      }
    });
  }

  static async start(port: number): Promise<Forwarder> {
    const forwarder = new Forwarder(port);
    await new Promise<void>((resolve) => forwarder.#server.listen(0, '127.0.0.1', resolve));
    return forwarder;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
