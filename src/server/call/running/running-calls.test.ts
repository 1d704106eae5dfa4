import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isCode, ToolError } from '../../../tools/errors.ts';
import { CallSlot } from '../../limits/client-limits.ts';
import { FairPool } from '../../limits/fair-pool.ts';
import { CallTimer, RunningCall, RunningCalls } from './running-calls.ts';

test('draining waits for calls that end in time', async () => {
  const calls = new RunningCalls();
  const call = calls.start();
  setTimeout(() => calls.end(call), 20);
  expect(await calls.drain(10_000)).toBe(0);
  expect(call.signal.aborted).toBe(false);
});

test('draining cancels calls that do not', async () => {
  const calls = new RunningCalls();
  const call = calls.start();
  call.signal.addEventListener('abort', () => calls.end(call));
  expect(await calls.drain(1)).toBe(1);
  expect(isCode(call.signal.reason, 'cancelled')).toBe(true);
  expect(calls.size).toBe(0);
});

test('draining does not wait forever for one that ignores even that', async () => {
  const calls = new RunningCalls();
  calls.start();
  expect(await calls.drain(1, 1)).toBe(1);
  expect(calls.size).toBe(1);
});

test('draining waits for every call, and for none when there is none', async () => {
  const calls = new RunningCalls();
  expect(await calls.drain(10_000)).toBe(0);
  const [first, second] = [calls.start(), calls.start()];
  let drained = false;
  const done = calls.drain(10_000).then(() => {
    drained = true;
  });
  calls.end(first);
  await new Promise((resolve) => setImmediate(resolve));
  expect(drained).toBe(false);
  calls.end(second);
  await done;
});

describe('the signal of a call', () => {
  test('is one and the same, and not aborted by itself', () => {
    const call = new RunningCall();
    expect(call.signal).toBe(call.signal);
    expect(call.signal.aborted).toBe(false);
  });

  test.each(['before', 'after'])('is aborted by a client that cancels %s it was asked for', (when) => {
    const call = new RunningCall();
    if (when === 'after') expect(call.signal.aborted).toBe(false);
    call.cancel();
    expect(call.signal.aborted).toBe(true);
    expect(isCode(call.signal.reason, 'cancelled')).toBe(true);
  });

  test.each(['before', 'after'])('is aborted with the first reason, given %s it was asked for', (when) => {
    const call = new RunningCall();
    if (when === 'after') expect(call.signal.aborted).toBe(false);
    call.abort(new ToolError('timed_out', { seconds: 1 }));
    call.cancel();
    expect(isCode(call.signal.reason, 'timed_out')).toBe(true);
  });
});

describe('the timer of a call', () => {
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

  test('the place of a call is free while the timer is paused, and for good once it is closed', async () => {
    const pool = new FairPool({ size: 1, clients: 1 });
    pool.force('c');
    const slot = new CallSlot(pool, 'c');
    const timer = new CallTimer(10_000, { expire: vi.fn(), defer, slot });
    const pauses = [timer.pauseFor(wait(50)), timer.pauseFor(wait(100))];
    expect(pool.total).toBe(0);
    await vi.advanceTimersByTimeAsync(60);
    expect(pool.total).toBe(0);
    await vi.advanceTimersByTimeAsync(60);
    await Promise.all(pauses);
    expect(pool.total).toBe(1);
    const late = timer.pauseFor(wait(50));
    timer.stop();
    slot.close();
    await vi.advanceTimersByTimeAsync(100);
    await late;
    expect(pool.total).toBe(0);
  });
});
