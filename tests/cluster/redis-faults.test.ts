import { setTimeout as later } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Replicas, startReplica, startReplicas } from '../support/balanced-replicas.ts';
import { noRedis, RedisServer, startRedis } from '../support/redis.ts';
import { connectHttp, httpTransport, type ToolClient } from '../support/tool-client.ts';

const AT = { root: 'workspace', path: 'a.txt' };
const PASSWORD = 'the-password-of-redis';
const LOST = 'redis is not available; what needs it is refused or kept by this replica';
/** How edits and appends are refused. */
const REFUSED = 'cannot agree on who changes it at present';
const BACK = 'redis is available again';

describe.skipIf(noRedis)(`replicas without Redis${noRedis === undefined ? '' : ` (skipped: ${noRedis})`}`, () => {
  let replicas: Replicas;
  let clients: ToolClient[];

  async function start(options: Parameters<typeof startReplicas>[0] = {}): Promise<void> {
    replicas = await startReplicas(options);
    clients = [await connectHttp(replicas.url, { era: 'legacy' }), await connectHttp(replicas.url, { era: 'modern' })];
    for (const client of clients) await client.ok('write_file', { ...AT, content: 'before' });
  }

  afterEach(async () => {
    replicas.redis.resume();
    for (const client of clients) await client.client.close();
    await replicas[Symbol.asyncDispose]();
  });

  /** What goes on without Redis, in sessions that each call takes to another replica. */
  async function goOn(label: string): Promise<void> {
    for (const client of clients) {
      for (let i = 0; i < 4; i += 1) {
        expect(await client.ok('read_file', AT)).toMatchObject({ content: 'before' });
        const path = `${label}-${clients.indexOf(client)}-${i}`;
        await client.ok('write_file', { ...AT, path, content: 'x', mode: 'create_only' });
        await client.ok('write_file', { ...AT, path, content: 'y', mode: 'overwrite' });
      }
      expect((await client.client.listTools()).tools.length).toBeGreaterThan(10);
    }
  }

  /** Edits and appends need Redis: they are refused with the reason, and change nothing. */
  async function refuseChanges(): Promise<void> {
    for (const client of clients) {
      const edit = { ...AT, old_text: 'before', new_text: 'after' };
      expect(await client.fails('edit_file', edit)).toContain(REFUSED);
      expect(await client.fails('write_file', { ...AT, content: 'x', mode: 'append' })).toContain(REFUSED);
      expect(await client.ok('read_file', AT)).toMatchObject({ content: 'before' });
    }
  }

  async function ready(): Promise<unknown[]> {
    const answers = await Promise.all(replicas.urls.map((url) => fetch(new URL('/ready', url))));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    return Promise.all(answers.map(async (answer) => ((await answer.json()) as { missing: unknown }).missing));
  }

  const linesOf = (msg: string) =>
    replicas.servers.map((server) => server.logs().filter((line) => line.msg === msg).length);

  test('go on with reads, creations and sessions while it is gone, and say so once', async () => {
    await start();
    await replicas.redis.kill();
    await expect.poll(ready, { timeout: 10_000 }).toEqual([['redis (unreachable)'], ['redis (unreachable)']]);
    await goOn('gone');
    await refuseChanges();
    // A new session, too.
    const late = await connectHttp(replicas.url);
    for (let i = 0; i < 4; i += 1) await late.ok('read_file', AT);
    await expect(httpTransport(late.client).terminateSession()).rejects.toThrow(/Service Unavailable/);
    await late.client.close();
    await later(2_500);
    expect([linesOf(LOST), linesOf(BACK)]).toEqual([
      [1, 1],
      [0, 0],
    ]);
    await replicas.redis.start();
    await expect.poll(ready, { timeout: 10_000 }).toEqual([[], []]);
    await goOn('back');
    expect([linesOf(LOST), linesOf(BACK)]).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  test('go on while it does not answer', async () => {
    await start();
    replicas.redis.pause();
    await goOn('paused');
    await refuseChanges();
    expect((await ready()).map(String)).toEqual([expect.stringMatching(/^redis/), expect.stringMatching(/^redis/)]);
    // Once it is known, nobody waits for it.
    const started = performance.now();
    for (let i = 0; i < 20; i += 1) for (const client of clients) await client.ok('read_file', AT);
    expect(performance.now() - started).toBeLessThan(40 * 500);
    replicas.redis.resume();
    await expect.poll(ready, { timeout: 10_000 }).toEqual([[], []]);
    await goOn('resumed');
    expect([linesOf(LOST), linesOf(BACK)]).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  test('go on while it is full', async () => {
    await start({ redis: await startRedis({ args: ['--maxmemory', '3mb', '--maxmemory-policy', 'noeviction'] }) });
    const { Valkey } = await import('iovalkey');
    const filler = new Valkey(replicas.redis.url);
    onTestFinished(() => filler.disconnect());
    const fill = async (): Promise<void> => {
      for (let i = 0; ; i += 1) await filler.set(`filler ${i}`, Buffer.alloc(50_000));
    };
    await expect(fill()).rejects.toThrow(/OOM/);
    // Redis frees buffers of its connections now and then.
    let isOver = false;
    const keepFull = async (): Promise<void> => {
      for (let i = 0; !isOver; i += 1) await filler.set(`more ${i}`, Buffer.alloc(500)).catch(() => later(5));
    };
    const keptFull = keepFull();
    await goOn('full');
    isOver = true;
    await keptFull;
    // A replica that had nothing to write did not notice.
    for (const lines of linesOf(LOST)) expect(lines).toBeLessThanOrEqual(1);
    expect(linesOf(LOST)).toContain(1);
    await filler.flushall();
    await goOn('flushed');
  });

  test('go on while it is started again and again during calls', async () => {
    await start();
    let done = false;
    const restarts = (async () => {
      while (!done) {
        await replicas.redis.kill();
        await later(100);
        await replicas.redis.start();
        await later(300);
      }
    })();
    for (let i = 0; i < 10; i += 1) await goOn(`restart-${i}`);
    done = true;
    await restarts;
  });

  test('limit the rate together, and each by itself while it is gone', async () => {
    // One token in a hundred seconds.
    const burst = 60;
    await start({ config: { rate_limit: { calls_per_second: 0.01, burst } } });
    const [, client] = clients as [ToolClient, ToolClient];
    const useUp = async (): Promise<number> => {
      for (let calls = 0; ; calls += 1) if ((await client.call('read_file', AT)).isError) return calls;
    };
    // What was used to connect counts as well.
    expect(await useUp()).toBeLessThan(burst);
    expect((await client.call('read_file', AT)).text).toMatch(/rate limit exceeded/);
    await replicas.redis.kill();
    await later(1_500);
    expect((await client.call('read_file', AT)).isError).toBe(false);
  });

  test('start without it, and never show its password', async () => {
    await start({ redis: await startRedis({ password: PASSWORD }) });
    await replicas.redis.kill();
    await using late = await startReplica(replicas.folder, replicas.redis, {});
    expect(await late.ok('read_file', AT)).toMatchObject({ content: 'before' });
    await expect.poll(ready, { timeout: 10_000 }).toEqual([['redis (unreachable)'], ['redis (unreachable)']]);
    const wrong = new RedisServer(replicas.redis.port, { password: `${PASSWORD}-other` });
    await wrong.start();
    await late.waitForLog(({ msg }) => msg === LOST);
    await later(2_500);
    await wrong[Symbol.asyncDispose]();
    for (const server of [late, ...replicas.servers]) expect(server.stderr()).not.toContain(PASSWORD);
  });
});
