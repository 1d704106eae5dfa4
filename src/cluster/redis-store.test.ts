import { setTimeout as later } from 'node:timers/promises';
import { Valkey } from 'iovalkey';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { noRedis, type RedisServer, startRedis } from '../../tests/support/redis.ts';
import { RedisStore } from './redis-store.ts';
import { StoreUnavailable } from './shared-store.ts';

const PASSWORD = 'pass-word-of-redis';

describe.skipIf(noRedis)(`a Redis that fails${noRedis === undefined ? '' : ` (skipped: ${noRedis})`}`, () => {
  let redis: RedisServer;
  let store: RedisStore;
  let events: string[];

  async function open(options: Parameters<typeof startRedis>[0] = {}): Promise<void> {
    redis = await startRedis(options);
    events = [];
    store = new RedisStore({
      url: redis.url,
      lost: (problem) => events.push(problem),
      back: () => events.push('back'),
    });
    await store.set('before', 'x', { ttlMs: 60_000 });
  }

  afterEach(async () => {
    await store.close();
    redis.resume();
    await redis[Symbol.asyncDispose]();
  });

  /** Sends a command of an administrator. */
  async function ask(name: string, ...args: readonly string[]): Promise<unknown> {
    const admin = new Valkey(redis.url);
    try {
      return await admin.call(name, ...args);
    } finally {
      admin.disconnect();
    }
  }

  /** Runs a command and returns why it failed, and how long that took. */
  async function failure(work: () => Promise<unknown> = () => store.get('before')) {
    const started = performance.now();
    const error = await work().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(StoreUnavailable);
    return { problem: (error as StoreUnavailable).details.problem, ms: performance.now() - started, error };
  }

  test('is noticed within a second, told once, and used again once it is back', async () => {
    await open();
    await redis.kill();
    const first = await failure();
    expect(first).toMatchObject({ problem: 'unreachable' });
    expect(first.ms).toBeLessThan(3_000);
    await later(1_100);
    // Nobody waits for what is known to be gone.
    for (let i = 0; i < 50; i += 1) expect((await failure()).ms).toBeLessThan(500);
    expect(events).toEqual(['unreachable']);
    expect(store.missing()).toEqual(['redis (unreachable)']);
    await redis.start();
    await expect.poll(() => store.missing(), { timeout: 10_000 }).toEqual([]);
    expect(await store.get('before')).toBeUndefined();
    expect(events).toEqual(['unreachable', 'back']);
  });

  test('and is back is told to those who want to know, each time', async () => {
    await open();
    const heard: string[] = [];
    store.onRestored(() => heard.push('one'));
    store.onRestored(() => heard.push('two'));
    await failure(() =>
      store
        .get('before')
        .then(() => redis.kill())
        .then(() => store.get('before')),
    );
    expect(heard).toEqual([]);
    await redis.start();
    await expect.poll(() => heard, { timeout: 10_000 }).toEqual(['one', 'two']);
    expect(await store.get('before')).toBeUndefined();
    redis.pause();
    await failure();
    redis.resume();
    await expect.poll(() => heard, { timeout: 10_000 }).toEqual(['one', 'two', 'one', 'two']);
    await later(2_500);
    expect(heard).toHaveLength(4);
  });

  test('and starts again, empty, before anybody has noticed is told as well', async () => {
    await open();
    let restored = 0;
    store.onRestored(() => {
      restored += 1;
    });
    await redis.kill();
    await redis.start();
    await expect.poll(() => restored, { timeout: 10_000 }).toBe(1);
    expect(await store.get('before')).toBeUndefined();
    await later(2_500);
    expect(restored).toBe(1);
  });

  test('that does not answer is given up after a second, and others do not wait behind', async () => {
    await open();
    redis.pause();
    const failures = await Promise.all([failure(), failure(), failure()]);
    for (const { ms } of failures) expect(ms).toBeLessThan(3_000);
    await later(1_100);
    expect((await failure()).ms).toBeLessThan(500);
    expect(events).toHaveLength(1);
    redis.resume();
    await expect.poll(() => store.missing(), { timeout: 10_000 }).toEqual([]);
    expect(String(await store.get('before'))).toBe('x');
  });

  test('that is full says so once, and what needs no more memory still works', { timeout: 40_000 }, async () => {
    await open({ args: ['--maxmemory', '3mb', '--maxmemory-policy', 'noeviction'] });
    const lease = await store.acquireLease('l', 60_000);
    await store.putBlob('o', 'k', Buffer.from('x'), { maxBytes: 100, maxEntries: 10, ttlMs: 60_000 });
    const fill = async (): Promise<void> => {
      for (let i = 0; ; i += 1) await store.set(`filler ${i}`, Buffer.alloc(100_000), { ttlMs: 60_000 });
    };
    expect(await failure(fill)).toMatchObject({ problem: 'full' });
    expect(events).toEqual(['full']);
    expect(store.missing()).toEqual(['redis (full)']);
    expect(String(await store.get('before'))).toBe('x');
    expect(String(await store.getBlob('o', 'k'))).toBe('x');
    if (!lease.granted) throw new Error('no lease');
    expect(await store.renewLease('l', lease.token, 60_000)).toBe(true);
    expect(await store.releaseLease('l', lease.token)).toBe(true);
    // What still works, or works now and then, does not hide that the rest does not.
    for (let i = 0; i < 6; i += 1) {
      await later(1_000);
      await store.get('before');
      await failure(fill);
    }
    // Nor does another problem in between.
    redis.pause();
    expect(await failure(() => store.get('before'))).toMatchObject({ problem: 'timed_out' });
    redis.resume();
    await later(2_500);
    expect(events).toEqual(['full']);
    const { Valkey } = await import('iovalkey');
    const other = new Valkey(redis.url);
    await other.flushall();
    other.disconnect();
    await expect.poll(() => events, { timeout: 15_000 }).toEqual(['full', 'back']);
    expect(store.missing()).toEqual([]);
  });

  describe('with half of its memory for the blobs of all owners', () => {
    const LIMITS = { maxBytes: 8_000_000, maxEntries: 1_000, ttlMs: 60_000 };
    const put = (owner: string, key = 'k', length = 500_000) => store.putBlob(owner, key, Buffer.alloc(length), LIMITS);
    const openSmall = () => open({ args: ['--maxmemory', '24mb', '--maxmemory-policy', 'noeviction'] });

    test('grants leases however many blobs are stored, and removes those of the owners that used none for longest', async () => {
      await openSmall();
      await put('busy');
      for (let i = 0; i < 100; i += 1) {
        expect(await put(`owner ${i}`)).toBeDefined();
        expect(await store.getBlob('busy', 'k')).toHaveLength(500_000);
        expect(await store.acquireLease(`lease ${i}`, 60_000)).toMatchObject({ granted: true });
      }
      const left = await Promise.all(Array.from({ length: 100 }, (_, i) => store.listBlobs(`owner ${i}`)));
      const kept = left.flatMap((list, i) => (list.length > 0 ? [i] : []));
      expect(kept.length).toBeGreaterThan(12);
      expect(kept.length).toBeLessThan(24);
      expect(kept).toEqual(Array.from({ length: kept.length }, (_, i) => 100 - kept.length + i));
      expect(events).toEqual([]);
    });

    test('removes blobs of others before older ones of the owner who stores', async () => {
      await openSmall();
      await put('first', 'old');
      for (let i = 0; i < 16; i += 1) await put(`owner ${i}`);
      await put('first', 'new', 4_000_000);
      expect((await store.listBlobs('first')).map(({ key }) => key)).toEqual(['old', 'new']);
      expect(await store.listBlobs('owner 0')).toEqual([]);
    });

    test('removes older blobs of an owner who is alone', async () => {
      await openSmall();
      for (let i = 0; i < 100; i += 1) {
        expect(
          await store.putBlob('alone', `${i}`, Buffer.alloc(500_000), { ...LIMITS, maxBytes: 100_000_000 }),
        ).toBeDefined();
        expect(await store.acquireLease(`lease ${i}`, 60_000)).toMatchObject({ granted: true });
      }
      expect((await store.listBlobs('alone')).map(({ key }) => key)).toContain('99');
    });

    test('refuses blobs, but no leases, if something else takes more than half', async () => {
      await openSmall();
      await put('owner');
      for (let i = 0; i < 14; i += 1) await store.set(`filler ${i}`, Buffer.alloc(1_000_000), { ttlMs: 60_000 });
      expect(await failure(() => put('other'))).toMatchObject({ problem: 'full' });
      expect(await store.listBlobs('owner')).toEqual([]);
      expect(await store.acquireLease('lease', 60_000)).toMatchObject({ granted: true });
    });

    test('forgets owners whose blobs have expired or were removed', async () => {
      await open();
      const { Valkey } = await import('iovalkey');
      const client = new Valkey(redis.url);
      onTestFinished(() => client.disconnect());
      const owners = () => client.zrange('ringfence:0:owners:', 0, -1);
      await store.putBlob('short', 'k', Buffer.from('x'), { ...LIMITS, ttlMs: 20 });
      await put('removed');
      await put('long');
      await store.deleteBlobs('removed');
      await later(50);
      await store.getBlob('long', 'k');
      expect(await owners()).toEqual(['long']);
    });
  });

  test('and starts again, empty, gives larger tokens than before, and does not know who held a lease', async () => {
    await open();
    const before = await store.acquireLease('l', 60_000);
    if (!before.granted) throw new Error('no lease');
    await store.releaseLease('l', before.token, 'left');
    await redis.kill();
    await redis.start();
    // Whatever comes first.
    await store.putBlob('o', 'k', Buffer.from('x'), { maxBytes: 100, maxEntries: 10, ttlMs: 60_000 });
    const after = await store.acquireLease('l', 60_000);
    if (!after.granted) throw new Error('no lease');
    // Not undefined: there may have been a holder a moment ago.
    expect(after.note).toBe('');
    expect(after.token).toBeGreaterThan(before.token);
    expect(await store.renewLease('l', before.token, 60_000)).toBe(false);
  });

  test('and starts again as it was a while ago, does not take an old note for the last one', async () => {
    await open();
    const holdOnce = async (key: string, note: string) => {
      const { token, ...answer } = (await store.acquireLease(key, 60_000)) as { token: number; note?: string };
      await store.releaseLease(key, token, note);
      return answer;
    };
    await holdOnce('l', 'first');
    expect(await holdOnce('l', 'second')).toMatchObject({ note: 'first' });
    const saved = new Valkey(redis.url);
    await saved.save();
    saved.disconnect();
    await holdOnce('l', 'forgotten');
    await redis.kill();
    await redis.start();
    expect(await holdOnce('l', 'after')).toMatchObject({ note: '' });
    expect(await holdOnce('l', 'next')).toMatchObject({ note: 'after' });
    expect(await store.leaseNote('l')).toBe('next');
    expect(await holdOnce('never held', '')).toMatchObject({ note: '', hasForgotten: true });
  });

  test('and is back has all subscriptions, also those made without it', async () => {
    await open();
    const heard: string[] = [];
    await store.subscribe('c', (message) => heard.push(message));
    await redis.kill();
    await store.subscribe('d', (message) => heard.push(message));
    await redis.start();
    await expect.poll(() => store.missing(), { timeout: 10_000 }).toEqual([]);
    await expect
      .poll(
        async () => {
          await store.publish('c', 'c').catch(() => {});
          await store.publish('d', 'd').catch(() => {});
          return heard.includes('c') && heard.includes('d');
        },
        { timeout: 10_000 },
      )
      .toBe(true);
  });

  test('is used with its password, which no error shows', async () => {
    await open({ password: PASSWORD });
    expect(String(await store.get('before'))).toBe('x');
    const wrong = new RedisStore({ url: redis.url.replace(PASSWORD, `${PASSWORD}-wrong`) });
    const refused = await failure(() => wrong.get('before'));
    expect(refused.error).toMatchObject({ details: { problem: 'wrong_password' } });
    await wrong.close();
    await redis.kill();
    for (const { error } of [refused, await failure()]) {
      const { stack, cause } = error as Error;
      expect(JSON.stringify([stack, cause, error])).not.toContain(PASSWORD);
    }
  });

  test.each([
    ['publish and subscribe', ['~ringfence:*', '+@all', 'resetchannels']],
    ['subscribe', ['~ringfence:*', '&ringfence:*', '+@all', '-subscribe']],
    ['use scripts', ['~ringfence:*', '&ringfence:*', '+@all', '-@scripting']],
    ['write', ['~ringfence:*', '&ringfence:*', '+@all', '-@write']],
  ])('whose user may not %s is reported until that is allowed', { timeout: 30_000 }, async (_, rules) => {
    await open();
    const setUser = (...given: string[]) => ask('ACL', 'SETUSER', 'ringfence', ...given);
    await setUser('on', '>secret', ...rules);
    const used = new URL(redis.url);
    used.username = 'ringfence';
    used.password = 'secret';
    const said: string[] = [];
    const restricted = new RedisStore({
      url: used.href,
      lost: (problem) => said.push(problem),
      back: () => said.push('back'),
    });
    onTestFinished(() => restricted.close());
    const heard: string[] = [];
    await restricted.subscribe('c', (message) => heard.push(message));
    await expect.poll(() => restricted.missing(), { timeout: 10_000 }).toEqual(['redis (failed)']);
    // Two probes later, whatever succeeds meanwhile.
    for (let i = 0; i < 10; i += 1) {
      await restricted.get('x');
      expect(restricted.missing()).toEqual(['redis (failed)']);
      await later(500);
    }
    expect(said).not.toContain('back');
    await setUser('~ringfence:*', '&ringfence:*', '+@all');
    await expect.poll(() => restricted.missing(), { timeout: 10_000 }).toEqual([]);
    await restricted.publish('c', 'allowed');
    await expect.poll(() => heard).toEqual(['allowed']);
  });

  test('is named by what is wrong with it', { timeout: 30_000 }, async () => {
    await open();
    await ask('ACL', 'SETUSER', 'ringfence', 'on', '>secret', '~*', '&*', '+@all');
    const used = new URL(redis.url);
    used.username = 'ringfence';
    used.password = 'another';
    const refused = new RedisStore({ url: used.href });
    onTestFinished(() => refused.close());
    // The default user needs no password.
    for (let i = 0; i < 10; i += 1) {
      expect(await failure(() => refused.get('before'))).toMatchObject({ problem: 'wrong_password' });
      expect(refused.missing()).toEqual(['redis (wrong password)']);
      await later(300);
    }
    await ask('ACL', 'SETUSER', 'ringfence', '>another');
    await expect.poll(() => refused.missing(), { timeout: 10_000 }).toEqual([]);
    await using primary = await startRedis();
    await ask('REPLICAOF', '127.0.0.1', `${primary.port}`);
    await expect.poll(() => store.missing(), { timeout: 10_000 }).toEqual(['redis (read only)']);
    await ask('REPLICAOF', 'NO', 'ONE');
    await expect.poll(() => store.missing(), { timeout: 10_000 }).toEqual([]);
  });

  test('every entry expires', async () => {
    await open();
    const limits = { maxBytes: 100, maxEntries: 10, ttlMs: 60_000 };
    await store.takeTokens('t', { perSecond: 1, burst: 2 }, 1);
    await store.increment('n', 1, 60_000);
    await store.putBlob('o', 'k', Buffer.from('x'), limits);
    await store.getBlob('o', 'k');
    await store.acquireLease('l', 60_000);
    const { Valkey } = await import('iovalkey');
    const client = new Valkey(redis.url);
    const keys = await client.keys('*');
    expect(keys.length).toBeGreaterThanOrEqual(8);
    for (const key of keys) expect([key, (await client.pttl(key)) > 0]).toEqual([key, true]);
    client.disconnect();
  });
});
