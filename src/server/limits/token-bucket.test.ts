import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RateLimiter, TokenBucket } from './token-bucket.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a burst, then as many as the rate allows, and when there is the next', () => {
  const bucket = new TokenBucket({ callsPerSecond: 4, burst: 3 });
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
  const bucket = new TokenBucket({ callsPerSecond: 1, burst: 1 });
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
