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
  /** A client's signal that counts who listens to it. */
  function client() {
    const controller = new AbortController();
    const { signal } = controller;
    const listeners = new Set<unknown>();
    const { addEventListener: add, removeEventListener: remove } = signal;
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners.add(args[1]);
      add.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners.delete(args[1]);
      remove.apply(signal, args);
    };
    return { controller, signal, listeners };
  }

  test('is one and the same, not aborted by itself, and made only when asked for', () => {
    const { signal, listeners } = client();
    const call = new RunningCall(signal);
    expect(listeners.size).toBe(0);
    expect(call.signal).toBe(call.signal);
    expect([call.signal.aborted, listeners.size]).toEqual([false, 1]);
  });

  test.each(['before', 'after'])('is aborted by a client that cancels %s it was asked for', (when) => {
    const { controller, signal } = client();
    const call = new RunningCall(signal);
    if (when === 'after') expect(call.signal.aborted).toBe(false);
    controller.abort(new Error('of the client'));
    expect(call.signal.aborted).toBe(true);
    expect(isCode(call.signal.reason, 'cancelled')).toBe(true);
  });

  test.each(['before', 'after'])('is aborted with the reason given %s it was asked for', (when) => {
    const { controller, signal } = client();
    const call = new RunningCall(signal);
    if (when === 'after') expect(call.signal.aborted).toBe(false);
    call.abort(new ToolError('timed_out', { seconds: 1 }));
    controller.abort();
    expect(isCode(call.signal.reason, 'timed_out')).toBe(true);
  });

  test('no longer listens to the client when the call is over', () => {
    const { controller, signal, listeners } = client();
    const call = new RunningCall(signal);
    expect(call.signal.aborted).toBe(false);
    call.end();
    expect(listeners.size).toBe(0);
    controller.abort();
    expect(call.signal.aborted).toBe(false);
  });
});
