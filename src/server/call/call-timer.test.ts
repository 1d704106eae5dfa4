import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CallTimer } from './call-timer.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const defer = (work: () => void): void => void setImmediate(work);
const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test('runs out after its time, not counting pauses that overlap', async () => {
  const expire = vi.fn();
  const timer = new CallTimer(100, { expire, defer });
  await vi.advanceTimersByTimeAsync(60);
  const pauses = [timer.pauseFor(wait(500)), timer.pauseFor(wait(800))];
  await vi.advanceTimersByTimeAsync(800);
  await Promise.all(pauses);
  await vi.advanceTimersByTimeAsync(30);
  expect(expire).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(20);
  expect(expire).toHaveBeenCalledOnce();
});

test('runs on after work that failed, and never again once stopped', async () => {
  const expire = vi.fn();
  const timer = new CallTimer(100, { expire, defer });
  await expect(timer.pauseFor(Promise.reject(new Error('no')))).rejects.toThrow('no');
  const pause = timer.pauseFor(wait(50));
  timer.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  await pause;
  expect([expire.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0]);
});

test('sets no timer when it is stopped in the turn in which it was made', () => {
  const timer = new CallTimer(100, { expire: vi.fn(), defer });
  timer.stop();
  vi.runAllTicks();
  vi.advanceTimersByTime(0);
  expect(vi.getTimerCount()).toBe(0);
});

test('has one timer, also when a pause was over before the turn was', async () => {
  const expire = vi.fn();
  const timer = new CallTimer(100, { expire, defer });
  await timer.pauseFor(Promise.resolve());
  await vi.advanceTimersByTimeAsync(1);
  expect(vi.getTimerCount()).toBe(1);
  timer.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  expect([expire.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0]);
});
