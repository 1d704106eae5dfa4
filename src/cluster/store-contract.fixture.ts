import { setTimeout as later } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SharedStore } from './shared-store.ts';

/** Opens two stores that two replicas of one server would have. */
type OpenReplicas = () => Promise<readonly [SharedStore, SharedStore]>;

const TTL = { ttlMs: 60_000 };
const LIMITS = { maxBytes: 100, maxEntries: 4, ttlMs: 60_000 };
const bytes = (length: number, fill = 0): Buffer => Buffer.alloc(length, fill);

/** Tests what every `SharedStore` promises. */
export function testSharedStore(name: string, open: OpenReplicas): void {
  describe(name, () => {
    let a: SharedStore;
    let b: SharedStore;
    beforeAll(async () => {
      [a, b] = await open();
    });
    afterAll(async () => {
      await a?.close();
      await b?.close();
    });

    test('replicas take tokens from the same bucket', async () => {
      const rate = { perSecond: 0.5, burst: 4 };
      for (const store of [a, b, a, b]) expect(await store.takeTokens('shared', rate, 1)).toBe(0);
      const wait = await a.takeTokens('shared', rate, 1);
      expect(wait).toBeGreaterThan(1);
      expect(wait).toBeLessThanOrEqual(2);
      expect(await b.takeTokens('other', rate, 1)).toBe(0);
    });

    test('a bucket fills again, but not beyond its size', async () => {
      const rate = { perSecond: 50, burst: 2 };
      expect(await a.takeTokens('filled', rate, 2)).toBe(0);
      await later(500);
      expect(await b.takeTokens('filled', rate, 2)).toBe(0);
      const slow = { perSecond: 0.001, burst: 2 };
      expect(await a.takeTokens('put back', slow, 1)).toBe(0);
      expect(await a.takeTokens('put back', slow, -5)).toBe(0);
      expect(await a.takeTokens('put back', slow, 2)).toBe(0);
      expect(await a.takeTokens('put back', slow, 1)).toBeGreaterThan(900);
    });

    test('a refusal takes no tokens, and many takers at once get exactly as many as there are', async () => {
      const rate = { perSecond: 0.001, burst: 10 };
      expect(await a.takeTokens('exact', rate, 11)).toBeGreaterThan(0);
      const waits = await Promise.all(
        Array.from({ length: 50 }, (_, i) => (i % 2 ? a : b).takeTokens('exact', rate, 1)),
      );
      expect(waits.filter((wait) => wait === 0)).toHaveLength(10);
    });

    test('values are bytes, seen by all, and replaced', async () => {
      const value = Buffer.from([0, 255, 10, 13, 128]);
      expect(await a.get('v')).toBeUndefined();
      await a.set('v', value, TTL);
      expect(await b.get('v')).toEqual(value);
      await b.set('v', 'text ä', TTL);
      expect(String(await a.get('v'))).toBe('text ä');
    });

    test('values expire', async () => {
      await a.set('short', 'x', { ttlMs: 50 });
      await expect.poll(() => b.get('short')).toBeUndefined();
    });

    test('counters add up and expire', async () => {
      await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? a : b).increment('n', 2, 60_000)));
      expect(await a.increment('n', -1, 50)).toBe(39);
      await later(100);
      expect(await b.increment('n', 1, 60_000)).toBe(1);
    });

    test('blobs of an owner are seen by all replicas and by no other owner', async () => {
      const version = await a.putBlob('o', 'f', bytes(5, 1), LIMITS);
      expect(await b.getBlob('o', 'f')).toEqual(bytes(5, 1));
      expect(await b.listBlobs('o')).toEqual([{ key: 'f', version }]);
      expect(await b.getBlob('p', 'f')).toBeUndefined();
      expect(await b.listBlobs('p')).toEqual([]);
      const next = await b.putBlob('o', 'f', bytes(5, 1), LIMITS);
      expect(next).not.toBe(version);
      await a.deleteBlobs('o', 'f');
      expect(await b.listBlobs('o')).toEqual([]);
      expect(await b.getBlob('o', 'f')).toBeUndefined();
    });

    test('the least recently used blobs are evicted', async () => {
      const keys = async () => (await b.listBlobs('lru')).map(({ key }) => key);
      for (const key of ['1', '2', '3']) await a.putBlob('lru', key, bytes(30), LIMITS);
      await b.getBlob('lru', '1');
      expect(await keys()).toEqual(['2', '3', '1']);
      await a.putBlob('lru', '4', bytes(40), LIMITS);
      expect(await keys()).toEqual(['3', '1', '4']);
      // What it replaces is not counted.
      await a.putBlob('lru', '3', bytes(30), LIMITS);
      expect(await keys()).toEqual(['1', '4', '3']);
      expect(await a.putBlob('lru', 'x', bytes(101), LIMITS)).toBeUndefined();
      expect(await keys()).toEqual(['1', '4', '3']);
      await a.putBlob('lru', 'all', bytes(100), LIMITS);
      expect(await keys()).toEqual(['all']);
      for (const key of ['', 'ttl', 'c', 'd', 'e']) await a.putBlob('lru', key, bytes(0), LIMITS);
      expect(await keys()).toEqual(['ttl', 'c', 'd', 'e']);
      await a.deleteBlobs('lru');
      expect(await keys()).toEqual([]);
    });

    test('the limits hold exactly after any puts, replacements, gets and removals', async () => {
      /** The lengths of the blobs, from the least to the most recently used. */
      const model = new Map<string, number>();
      const sum = () => [...model.values()].reduce((total, length) => total + length, 0);
      let seed = 1;
      const random = (below: number): number => {
        seed = (seed * 48_271) % 2_147_483_647;
        return seed % below;
      };
      for (let step = 0; step < 600; step += 1) {
        const store = step % 2 ? a : b;
        const [key, length, action] = [`${random(7)}`, random(45), random(10)];
        const known = model.get(key);
        if (action < 6) {
          model.delete(key);
          for (const [oldest] of model) {
            if (sum() + length <= LIMITS.maxBytes && model.size < LIMITS.maxEntries) break;
            model.delete(oldest);
          }
          model.set(key, length);
          await store.putBlob('exact', key, bytes(length), LIMITS);
        } else if (action < 8) {
          if (known !== undefined) model.delete(key);
          if (known !== undefined) model.set(key, known);
          expect((await store.getBlob('exact', key))?.length).toBe(known);
        } else {
          // Now and then all of them.
          if (random(20) === 0) model.clear();
          else model.delete(key);
          await store.deleteBlobs('exact', ...(model.size === 0 ? [] : [key]));
        }
        expect((await a.listBlobs('exact')).map((entry) => entry.key)).toEqual([...model.keys()]);
      }
    });

    test('the blobs of an owner expire together, unless one is used', async () => {
      const limits = { ...LIMITS, ttlMs: 1_500 };
      await a.putBlob('gone', '1', bytes(1), limits);
      await a.putBlob('gone', '2', bytes(1), limits);
      await later(800);
      expect(await b.getBlob('gone', '1')).toHaveLength(1);
      await later(800);
      expect(await b.listBlobs('gone')).toHaveLength(2);
      await expect.poll(() => b.listBlobs('gone')).toEqual([]);
      expect(await b.getBlob('gone', '1')).toBeUndefined();
    });

    test('messages reach the subscribers of a channel in all replicas, in order', async () => {
      const heard: string[] = [];
      const listen = (who: string) => (message: string) => heard.push(`${who} ${message}`);
      const ends = [await a.subscribe('c', listen('a')), await b.subscribe('c', listen('b'))];
      await b.subscribe('other', listen('other'));
      expect(await a.publish('c', '1')).toBeGreaterThan(1);
      await a.publish('c', '2 ä');
      await expect.poll(() => heard.length).toBe(4);
      expect(heard.filter((line) => line.startsWith('a'))).toEqual(['a 1', 'a 2 ä']);
      expect(heard.filter((line) => line.startsWith('b'))).toEqual(['b 1', 'b 2 ä']);
      await ends[0]?.();
      await b.publish('c', '3');
      await expect.poll(() => heard).toContain('b 3');
      await later(50);
      expect(heard).not.toContain('a 3');
      await ends[1]?.();
      expect(await a.publish('c', '4')).toBe(0);
    });

    test('a lease has one holder, who alone renews and releases it', async () => {
      const first = await a.acquireLease('l', 60_000);
      if (!first.granted) throw new Error('no lease');
      expect(await b.acquireLease('l', 60_000)).toEqual({ granted: false });
      expect(await b.renewLease('l', first.token + 1, 60_000)).toBe(false);
      expect(await b.releaseLease('l', first.token - 1)).toBe(false);
      expect(await a.renewLease('l', first.token, 60_000)).toBe(true);
      expect((await b.acquireLease('m', 60_000)).granted).toBe(true);
      expect(await a.releaseLease('l', first.token)).toBe(true);
      expect(await a.releaseLease('l', first.token)).toBe(false);
      expect(await a.renewLease('l', first.token, 60_000)).toBe(false);
      const second = await b.acquireLease('l', 60_000);
      expect(second).toMatchObject({ granted: true });
      expect((second as { token: number }).token).toBeGreaterThan(first.token);
    });

    test('a lease is granted anew to an owner that asks again, and to no other', async () => {
      const acquire = (store: SharedStore, owner?: string) => store.acquireLease('owned', 60_000, owner);
      const [first, again] = [await acquire(a, 'one'), await acquire(a, 'one')];
      if (!first.granted || !again.granted) throw new Error('no lease');
      expect(again.token).toBeGreaterThan(first.token);
      // The answer to the first request may have been lost on the way, or the release.
      expect(again.note).toBe('');
      expect(await a.renewLease('owned', first.token, 60_000)).toBe(false);
      for (const owner of ['other', '', undefined]) expect(await acquire(b, owner)).toEqual({ granted: false });
      const next = await a.handOnLease('owned', again.token, 'left', 60_000);
      expect(await acquire(b, 'other')).toEqual({ granted: false });
      expect(next.granted && (await a.releaseLease('owned', next.token, 'left'))).toBe(true);
      expect(await acquire(b, 'other')).toMatchObject({ granted: true, note: 'left' });
      const nobody = await a.acquireLease('of nobody', 60_000);
      expect(nobody.granted).toBe(true);
      expect(await b.acquireLease('of nobody', 60_000)).toEqual({ granted: false });
    });

    test('a lease that is not renewed ends, and its holder learns of it', async () => {
      const first = await a.acquireLease('dead', 50);
      if (!first.granted) throw new Error('no lease');
      await expect.poll(async () => (await b.acquireLease('dead', 60_000)).granted).toBe(true);
      expect(await a.renewLease('dead', first.token, 60_000)).toBe(false);
      expect(await a.releaseLease('dead', first.token)).toBe(false);
      expect((await a.acquireLease('dead', 60_000)).granted).toBe(false);
    });

    test('who releases a lease leaves a note for the next holder, and for no other', async () => {
      const acquire = async (store: SharedStore, ttlMs = 60_000) => {
        const answer = await store.acquireLease('noted', ttlMs);
        if (!answer.granted) throw new Error('no lease');
        return answer;
      };
      const first = await acquire(a);
      // A store that was empty a moment ago may not know.
      expect(first.note ?? '').toBe('');
      expect(await b.releaseLease('noted', first.token - 1, 'not theirs')).toBe(false);
      expect(await a.releaseLease('noted', first.token, 'left')).toBe(true);
      expect(await b.leaseNote('noted')).toBe('left');
      expect(await b.leaseNote('never held')).toBeUndefined();
      const second = await acquire(b, 20);
      expect(second.note).toBe('left');
      expect(await a.leaseNote('noted')).toBe('left');
      // The second holder does not release.
      await later(50);
      const third = await acquire(a);
      expect(third.note).toBe('');
      expect(await b.releaseLease('noted', second.token, 'too late')).toBe(false);
      expect(await a.releaseLease('noted', third.token)).toBe(true);
      expect((await acquire(b)).note).toBe('');
    });

    test('a lease is handed on with a note and a larger token, and only by its holder', async () => {
      const first = await a.acquireLease('passed', 60_000);
      if (!first.granted) throw new Error('no lease');
      expect(await b.handOnLease('passed', first.token - 1, 'not theirs', 60_000)).toEqual({ granted: false });
      const second = await a.handOnLease('passed', first.token, 'left', 60_000);
      if (!second.granted) throw new Error('not handed on');
      expect(second.note).toBe('left');
      expect(second.token).toBeGreaterThan(first.token);
      expect(await b.leaseNote('passed')).toBe('left');
      expect(await b.acquireLease('passed', 60_000)).toEqual({ granted: false });
      expect(await a.renewLease('passed', first.token, 60_000)).toBe(false);
      expect(await a.releaseLease('passed', first.token, 'too late')).toBe(false);
      // The second holder does not release.
      expect(await a.renewLease('passed', second.token, 10)).toBe(true);
      await later(50);
      expect(await a.handOnLease('passed', second.token, 'too late', 60_000)).toEqual({ granted: false });
      expect(await b.acquireLease('passed', 60_000)).toMatchObject({ granted: true, note: '' });
    });

    test('tokens increase strictly, and of many who ask at once one gets the lease', async () => {
      const tokens: number[] = [];
      for (let i = 0; i < 20; i += 1) {
        const answers = await Promise.all([a, b, a, b].map((store) => store.acquireLease('race', 60_000)));
        const granted = answers.flatMap((answer) => (answer.granted ? [answer.token] : []));
        expect(granted).toHaveLength(1);
        tokens.push(...granted);
        await a.releaseLease('race', granted[0] ?? 0);
      }
      expect(tokens).toEqual([...new Set(tokens)].sort((x, y) => x - y));
      expect(tokens.every(Number.isSafeInteger)).toBe(true);
    });

    test('arguments and results can be passed to another process', async () => {
      for (const value of [await a.acquireLease('clone', 1), await a.listBlobs('o'), a.missing()]) {
        expect(structuredClone(value)).toEqual(value);
      }
      expect(a.missing()).toEqual([]);
    });
  });
}
