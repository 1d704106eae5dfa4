import { expect, test } from 'vitest';
import { isCode } from '../errors.ts';
import { RunningCalls } from './running-calls.ts';

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
