import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MemoryStore } from '../../cluster/memory-store.ts';
import { StoreUnavailable } from '../../cluster/shared-store.ts';
import { RateLimiter, TokenBucket } from './token-bucket.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a burst, then as many as the rate allows, and when there is the next', () => {
  const bucket = new TokenBucket({ current: { callsPerSecond: 4, burst: 3 } });
  const take = (count: number) => Array.from({ length: count }, () => bucket.take());
  expect(take(5)).toEqual([0, 0, 0, 0.3, 0.3]);
  vi.advanceTimersByTime(200);
  expect(bucket.take()).toBe(0.1);
  vi.advanceTimersByTime(50);
  expect(take(2)).toEqual([0, 0.3]);
  vi.advanceTimersByTime(60_000);
  expect(take(4)).toEqual([0, 0, 0, 0.3]);
});

test('a token that is put back can be taken again', () => {
  const bucket = new TokenBucket({ current: { callsPerSecond: 1, burst: 1 } });
  bucket.take();
  bucket.putBack();
  expect([bucket.take(), bucket.take()]).toEqual([0, 1]);
});

test('each client has a bucket of its own, and keeps it while it is not full', () => {
  const limiter = new RateLimiter({ callsPerSecond: 0.001, burst: 1 });
  expect([limiter.of('a').take(), limiter.of('b').take(), limiter.of('a').take()]).toEqual([0, 0, 1000]);
  for (let index = 0; index < 20_000; index += 1) limiter.of(`address ${index}`);
  expect(limiter.of('a').take()).toBe(1000);
});

test('replicas count the calls of a client together, and each by itself while the store is unavailable', async () => {
  let broken = false;
  class Breaking extends MemoryStore {
    override async takeTokens(...args: Parameters<MemoryStore['takeTokens']>) {
      if (broken) throw new StoreUnavailable('unreachable');
      return super.takeTokens(...args);
    }
  }
  const store = new Breaking();
  const [one, other] = [1, 2].map(() => new RateLimiter({ callsPerSecond: 0.1, burst: 2 }, store));
  const take = (limiter: RateLimiter | undefined) => limiter?.of('a').takeShared?.();
  expect([await take(one), await take(other), await take(one), await take(other)]).toEqual([0, 0, 10, 10]);
  expect([one?.refusals, other?.refusals]).toEqual([1, 1]);
  one?.of('a').putBack();
  expect([await take(other), await take(one)]).toEqual([0, 10]);
  broken = true;
  expect([await take(one), await take(one), await take(one), await take(other)]).toEqual([0, 0, 10, 0]);
  expect(one?.ofProcess().takeShared).toBeUndefined();
});

test('another limit holds for clients that are known already, and none lets them all pass', () => {
  const limiter = new RateLimiter(undefined);
  const bucket = limiter.of('a');
  expect([bucket.take(), bucket.take()]).toEqual([0, 0]);
  limiter.replace({ callsPerSecond: 1, burst: 2 });
  vi.advanceTimersByTime(5_000);
  expect([bucket.take(), bucket.take(), bucket.take()]).toEqual([0, 0, 1]);
  limiter.replace(undefined);
  expect(bucket.take()).toBe(0);
});
