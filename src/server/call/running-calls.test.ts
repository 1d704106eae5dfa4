import { describe, expect, test } from 'vitest';
import { isCode, ToolError } from '../../tools/errors.ts';
import { RunningCall, RunningCalls } from './running-calls.ts';

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
