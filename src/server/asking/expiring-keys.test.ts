import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ExpiringKeys } from './expiring-keys.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('ends after its time, which a second begins anew and taking it up stops', () => {
  const ended: string[] = [];
  const lives = new ExpiringKeys((key) => ended.push(key));
  for (const key of ['a', 'b', 'c']) lives.keep(key, 100);
  vi.advanceTimersByTime(60);
  lives.keep('b', 100);
  lives.resume('c');
  lives.resume('none');
  vi.advanceTimersByTime(60);
  expect(ended).toEqual(['a']);
  vi.advanceTimersByTime(60);
  expect(ended).toEqual(['a', 'b']);
  expect(vi.getTimerCount()).toBe(0);
});
