import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ExpiringKeys } from './expiring-keys.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a key expires after its time, which scheduling it again restarts and cancelling stops', () => {
  const ended: string[] = [];
  const expiring = new ExpiringKeys((key) => ended.push(key));
  for (const key of ['a', 'b', 'c']) expiring.schedule(key, 100);
  vi.advanceTimersByTime(60);
  expiring.schedule('b', 100);
  expiring.cancel('c');
  expiring.cancel('none');
  vi.advanceTimersByTime(60);
  expect(ended).toEqual(['a']);
  vi.advanceTimersByTime(60);
  expect(ended).toEqual(['a', 'b']);
  expect(vi.getTimerCount()).toBe(0);
});
