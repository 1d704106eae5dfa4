import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Balancer, noBalancer } from './balancer.ts';
import { recordFigure } from './figures.ts';
import { freePort } from './free-port.ts';
import { cannotRunGluster } from './gluster-volume.ts';
import { noRedis } from './redis.ts';
import { type Replicas, startReplicas } from './replicas.ts';
import { startStormBalancer } from './storm-balancer.ts';
import { type StormAnswer, StormClient } from './storm-client.ts';
import { StormTally } from './storm-tally.ts';

/** How large a storm is, and what happens after how many seconds. */
export interface Storm {
  readonly clients: number;
  readonly seconds: number;
  /** A replica is killed, and started again two seconds later. */
  readonly kill: number;
  /** Another is stopped for so long. */
  readonly stop: { readonly at: number; readonly seconds: number };
  readonly brick: number;
  readonly redis: number;
  readonly reload: number;
}

const CLIENTS_PER_FILE = 5;
/** How long clients pause between calls at most, for each of them: more clients do not make more calls. */
const PAUSE_MS = 10;
/** What an edit answers that was made before, because its text is no longer there. */
const APPLIED_BEFORE = 'not found, file unchanged';
/** After how long machines no longer see what others have replaced. */
const SETTLE_MS = 4_000;
const KILLED = 0;
const STOPPED = 1;
/** A call that the killed replica had not answered fails within this time. */
const KILL_MS = 1_500;

const reason = cannotRunGluster ?? noRedis ?? noBalancer('haproxy');
const number = (i: number): string => String(i).padStart(6, '0');

/** Defines the test in which clients of both eras call three replicas on two mounts while everything fails once. */
export function testStorm(storm: Storm): void {
  const { clients, seconds } = storm;
  test.skipIf(reason !== undefined)(
    `${clients} clients for ${seconds} s while a replica, a brick and Redis are killed: nothing is lost (${reason ?? 'GlusterFS, Redis, HAProxy'})`,
    { timeout: (seconds + 180) * 1000 },
    async () => {
      const ports = await Promise.all(Array.from({ length: 4 }, freePort));
      const [port = 0, ...serving] = ports;
      await using replicas = await startReplicas({ servers: serving.length, ports: serving });
      await using balancer = await startStormBalancer(port, serving);
      const tally = new StormTally();
      const opened = await Promise.all(
        Array.from({ length: clients }, (_, index) => StormClient.open(balancer.url, index % 2 ? 'legacy' : 'modern')),
      );
      prepare(replicas, clients);
      const until = performance.now() + seconds * 1000;
      const failing = fail(storm, { replicas, balancer, tally, port: serving[KILLED] as number });
      const pauseMs = clients * PAUSE_MS;
      await Promise.all(opened.map((client, index) => new Actor(client, index, tally).run(until, pauseMs)));
      await failing;
      // What machines still see of what others have replaced.
      await sleep(SETTLE_MS);
      const { mounts } = replicas.volume;
      for (const mount of mounts) tally.check(mount);
      const leftovers = mounts.flatMap((mount) =>
        fs.readdirSync(mount, { recursive: true, encoding: 'utf8' }).filter(isTemporary),
      );
      for (const client of opened) client.close();
      const name = `storm of ${clients} clients`;
      recordFigure(`${name}: calls`, tally.calls, 'calls');
      recordFigure(`${name}: failed calls in flight on the killed replica`, tally.inFlight, 'calls');
      recordFigure(`${name}: other errors that clients saw`, tally.errors.length, 'calls');
      recordFigure(`${name}: updates confirmed`, tally.confirmed, 'updates');
      recordFigure(`${name}: updates lost`, tally.lost.length, 'updates');
      recordFigure(`${name}: updates made twice`, tally.doubled.length, 'updates');
      recordFigure(`${name}: sessions lost`, tally.sessionsLost, 'sessions');
      recordFigure(`${name}: the longest call`, tally.longestMs, 'ms');
      expect(tally.lost).toEqual([]);
      expect(tally.errors.slice(0, 20)).toEqual([]);
      expect(tally.doubled).toEqual([]);
      expect(tally.sessionsLost).toBe(0);
      expect(leftovers).toEqual([]);
      expect(tally.confirmed).toBeGreaterThan(clients);
      for (const server of replicas.servers) expect(server.stderr()).not.toContain('internal error');
    },
  );
}

function prepare({ volume }: Replicas, clients: number): void {
  const top = volume.mounts[0] as string;
  fs.mkdirSync(path.join(top, 'own'));
  for (let file = 0; file * CLIENTS_PER_FILE < clients; file += 1) {
    const lines = Array.from(
      { length: CLIENTS_PER_FILE },
      (_, index) => `c${file * CLIENTS_PER_FILE + index}:${number(0)}\n`,
    );
    fs.writeFileSync(path.join(top, `edited-${file}`), lines.join(''));
  }
}

interface Failing {
  readonly replicas: Replicas;
  readonly balancer: Balancer;
  readonly tally: StormTally;
  /** The port of the replica that is killed. */
  readonly port: number;
}

async function fail(storm: Storm, { replicas, balancer, tally, port }: Failing): Promise<void> {
  const { servers, volume, redis } = replicas;
  const at = async (second: number, event: () => unknown): Promise<void> => {
    await sleep(second * 1000);
    await event();
  };
  const pid = (index: number): number => servers[index]?.pid ?? 0;
  await Promise.all([
    at(storm.kill, () => {
      tally.killedAt = performance.now();
      process.kill(pid(KILLED), 'SIGKILL');
    }),
    at(storm.kill + 2, () => replicas.start(KILLED, port)),
    at(storm.stop.at, () => process.kill(pid(STOPPED), 'SIGSTOP')),
    at(storm.stop.at + storm.stop.seconds, () => process.kill(pid(STOPPED), 'SIGCONT')),
    at(storm.brick, () => volume.killBrick(1)),
    at(storm.redis, async () => {
      await redis.kill();
      await sleep(500);
      await redis.start();
    }),
    at(storm.reload, () => balancer.reload()),
  ]);
}

/** A client that makes one call after another, and knows what has to be there at the end. */
class Actor {
  readonly #client: StormClient;
  readonly #index: number;
  readonly #tally: StormTally;
  #edits = 0;

  constructor(client: StormClient, index: number, tally: StormTally) {
    this.#client = client;
    this.#index = index;
    this.#tally = tally;
  }

  async run(until: number, pauseMs: number): Promise<void> {
    await sleep(Math.random() * pauseMs);
    for (let turn = 0; performance.now() < until; turn += 1) {
      await this.#step(turn);
      await sleep(Math.random() * pauseMs);
    }
  }

  async #step(turn: number): Promise<void> {
    const file = Math.floor(this.#index / CLIENTS_PER_FILE);
    const own = `own/${this.#index}`;
    switch (turn % 8) {
      case 1:
        return this.#append(`log-${file}`, `+c${this.#index}-${turn}`);
      case 3:
        return this.#overwrite(own, `c${this.#index} ${turn}`);
      case 4:
        return this.#create(`${own}-${turn}`, `c${this.#index} ${turn}`);
      case 5:
        await this.#call('list_folder', { path: '' });
        return;
      case 6:
        await this.#call('read_file', { path: `edited-${file}` });
        return;
      default:
        return this.#edit(`edited-${file}`);
    }
  }

  /** Counts its line up. A call without an answer is made again: if it had been served, its text is no longer there. */
  async #edit(file: string): Promise<void> {
    const [before, after] = [this.#edits, this.#edits + 1].map((count) => `c${this.#index}:${number(count)}\n`);
    const args = { path: file, old_text: before, new_text: after };
    let answer = await this.#call('edit_file', args);
    let isRepeated = false;
    for (; isUnanswered(answer); isRepeated = true) {
      await sleep(500);
      answer = await this.#call('edit_file', args, APPLIED_BEFORE);
    }
    if (!answer.ok && !(isRepeated && answer.body.includes(APPLIED_BEFORE))) return;
    this.#edits += 1;
    this.#tally.expectLine(file, after as string, before as string);
  }

  async #append(file: string, line: string): Promise<void> {
    const answer = await this.#call('write_file', { path: file, content: `${line}\n`, mode: 'append' });
    // Whether a call without an answer was served is not known, and it is not made again.
    if (answer.ok) this.#tally.expectAppended(file, line);
    else this.#tally.mayHaveAppended(file, line);
  }

  async #overwrite(file: string, content: string): Promise<void> {
    const answer = await this.#call('write_file', { path: file, content });
    if (answer.ok) this.#tally.expectContent(file, content);
    else this.#tally.mayHaveContent(file, content);
  }

  async #create(file: string, content: string): Promise<void> {
    const answer = await this.#call('write_file', { path: file, content, mode: 'create_only' });
    if (answer.ok) this.#tally.expectContent(file, content);
    else this.#tally.mayHaveContent(file, content);
  }

  async #call(tool: string, args: Record<string, unknown>, allowed?: string): Promise<StormAnswer> {
    const started = performance.now();
    const answer = await this.#client.call(tool, args);
    this.#tally.count(tool, answer, { started, killed: String(KILLED), withinMs: KILL_MS, allowed });
    return answer;
  }
}

function isTemporary(file: string): boolean {
  return path.basename(file).startsWith('.ringfence');
}

function isUnanswered({ status }: StormAnswer): boolean {
  return status === 0 || status >= 500;
}
