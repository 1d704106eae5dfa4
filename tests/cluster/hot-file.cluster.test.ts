import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, test } from 'vitest';
import { type Balancer, noBalancer } from '../support/balancer.ts';
import { recordFigure } from '../support/figures.ts';
import { freePort } from '../support/free-port.ts';
import { cannotRunGluster } from '../support/gluster-volume.ts';
import { noRedis } from '../support/redis.ts';
import { type Replicas, startReplicas } from '../support/replicas.ts';
import { startStormBalancer } from '../support/storm-balancer.ts';
import { connectHttp } from '../support/tool-client.ts';

const reason = cannotRunGluster ?? noRedis ?? noBalancer('haproxy');
const CLIENTS = 60;
const SECONDS = 45;
const PAUSE_MS = 300;
const KILL_S = 4;
/**
 * Calls of the killed replica fail within this time: whoever waits for them may be stopped for ten seconds, or lack
 * Redis.
 */
const NOTICED_MS = 40_000;
const SETTLE_MS = 4_000;
const FILE = { root: 'shared', path: 'hot' };

interface Answer {
  readonly isError: boolean;
  readonly text: string;
}

interface HotClient {
  call(tool: string, args: Readonly<Record<string, unknown>>): Promise<Answer>;
  close(): Promise<unknown>;
}

/** Connects a client of one of three kinds: version 1 of the SDK, or version 2 in either era. */
async function connect(url: string, kind: number): Promise<HotClient> {
  if (kind !== 0) {
    const client = await connectHttp(url, { era: kind === 1 ? 'legacy' : 'modern' });
    return { call: (tool, args) => client.call(tool, args), close: () => client.client.close() };
  }
  const client = new OldClient({ name: 'old', version: '1' });
  await client.connect(new OldTransport(new URL(url)) as never);
  const call = async (name: string, args: Readonly<Record<string, unknown>>): Promise<Answer> => {
    const { isError, content } = await client.callTool({ name, arguments: { ...args } });
    return { isError: isError === true, text: (content as { text: string }[]).map(({ text }) => text).join('') };
  };
  return { call, close: () => client.close() };
}

const lineOf = (index: number, count: number): string => `c${index}:${String(count).padStart(5, '0')}\n`;

class HotFile {
  calls = 0;
  stale = 0;
  /** Calls that failed because the replica that ran them was killed. */
  inFlight = 0;
  readonly errors: string[] = [];
  readonly counts: number[] = Array.from({ length: CLIENTS }, () => 0);
  killedAt = Number.POSITIVE_INFINITY;

  /** Counts a line of the file up, and reads it now and then, at whichever replica the balancer chooses. */
  async run(client: HotClient, index: number, until: number): Promise<void> {
    for (let turn = 0; performance.now() < until; turn += 1) {
      const isRead = turn % 3 === 2;
      const started = performance.now();
      try {
        this.calls += 1;
        await (isRead ? this.#read(client, index) : this.#edit(client, index));
      } catch (error) {
        const isKilled = started < this.killedAt + 100 && performance.now() < this.killedAt + NOTICED_MS;
        if (isKilled) this.inFlight += 1;
        else this.errors.push(`${Math.round(performance.now() - started)} ms: ${error}`);
        // It may have been served.
        if (!isRead) this.counts[index] = await this.#countOf(client, index);
      }
      await sleep(Math.random() * PAUSE_MS);
    }
  }

  async #edit(client: HotClient, index: number): Promise<void> {
    const count = this.counts[index] ?? 0;
    const edit = { old_text: lineOf(index, count), new_text: lineOf(index, count + 1) };
    const { isError, text } = await client.call('edit_file', { ...FILE, ...edit });
    if (isError) this.errors.push(text);
    else this.counts[index] = count + 1;
  }

  async #read(client: HotClient, index: number): Promise<void> {
    const { isError, text } = await client.call('read_file', FILE);
    if (isError) this.errors.push(text);
    else if (!text.includes(lineOf(index, this.counts[index] ?? 0).trim())) this.stale += 1;
  }

  /** What the line of a client is, once nothing that it sent can be running. */
  async #countOf(client: HotClient, index: number): Promise<number> {
    await sleep(SETTLE_MS);
    const { text } = await client.call('read_file', FILE);
    return Number(new RegExp(`c${index}:(\\d+)`).exec(text)?.[1]);
  }
}

interface Failing {
  readonly hot: HotFile;
  /** The port of the replica that is killed. */
  readonly port: number;
  readonly balancer: Balancer;
}

function fail({ servers, redis, volume, start }: Replicas, { hot, port, balancer }: Failing): Promise<unknown> {
  const at = async (second: number, event: () => unknown): Promise<void> => {
    await sleep(second * 1000);
    await event();
  };
  const pid = (index: number): number => servers[index]?.pid ?? 0;
  const kill = (): void => {
    hot.killedAt = performance.now();
    process.kill(pid(0), 'SIGKILL');
  };
  return Promise.all([
    at(KILL_S, kill),
    at(KILL_S + 2, () => start(0, port)),
    ...[9, 15, 33].flatMap((second) => [at(second, () => redis.kill()), at(second + 0.7, () => redis.start())]),
    at(12, () => process.kill(pid(1), 'SIGSTOP')),
    at(22, () => process.kill(pid(1), 'SIGCONT')),
    at(26, () => volume.killBrick(1)),
    at(30, () => balancer.reload()),
  ]);
}

test.skipIf(reason !== undefined)(
  `${CLIENTS} clients of three kinds edit and read one file for ${SECONDS} s while everything fails (${reason ?? 'GlusterFS, Redis, HAProxy'})`,
  { timeout: 300_000 },
  async () => {
    const [port = 0, ...serving] = await Promise.all(Array.from({ length: 4 }, freePort));
    await using replicas = await startReplicas({ servers: 3, ports: serving });
    await using balancer = await startStormBalancer(port, serving);
    const file = path.join(replicas.volume.mounts[0] as string, FILE.path);
    const hot = new HotFile();
    fs.writeFileSync(file, hot.counts.map((count, index) => lineOf(index, count)).join(''));
    const clients = await Promise.all(hot.counts.map((_, index) => connect(balancer.url, index % 3)));
    const until = performance.now() + SECONDS * 1000;
    const failing = fail(replicas, { hot, port: serving[0] ?? 0, balancer });
    await Promise.all(clients.map((client, index) => hot.run(client, index, until)));
    await failing;
    await sleep(SETTLE_MS);
    recordFigure('one file edited by all: calls', hot.calls, 'calls');
    recordFigure(
      'one file edited by all: edits',
      hot.counts.reduce((sum, count) => sum + count, 0),
      'edits',
    );
    recordFigure('one file edited by all: failed calls in flight on the killed replica', hot.inFlight, 'calls');
    recordFigure('one file edited by all: reads of an older content', hot.stale, 'reads');
    expect(fs.readFileSync(file, 'latin1')).toBe(hot.counts.map((count, index) => lineOf(index, count)).join(''));
    expect(hot.errors).toEqual([]);
    expect(hot.stale).toBe(0);
    for (const client of clients) await client.close();
  },
);
