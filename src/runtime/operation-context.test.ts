import { expect, test, vi } from 'vitest';
import { outcome } from '../fence/sandbox.fixture.ts';
import { ToolError } from '../tools/errors.ts';
import { DEFAULT_CONTEXT, throwIfAborted, yieldPoint } from './operation-context.ts';

test('yieldPoint does not wait at first and then lets the event loop run', async () => {
  const pause = await vi.waitFor(() => {
    // On a busy machine the slice may have ended already.
    const fresh = yieldPoint(DEFAULT_CONTEXT);
    expect(fresh()).toBeUndefined();
    return fresh;
  });
  let ran = false;
  setImmediate(() => {
    ran = true;
  });
  const end = performance.now() + 1000;
  while (!ran && performance.now() < end) await pause();
  expect(ran).toBe(true);
});

test('yieldPoint throws the reason of an aborted signal', async () => {
  const stop = new AbortController();
  const pause = yieldPoint({ signal: stop.signal });
  stop.abort();
  expect(await outcome(() => pause())).toBe('cancelled');
  const late = AbortSignal.abort(new ToolError('timed_out', { seconds: 3 }));
  expect(await outcome(() => throwIfAborted(late))).toBe('timed_out');
  expect(await outcome(() => throwIfAborted(AbortSignal.abort('because')))).toBe('cancelled');
  expect(await outcome(() => throwIfAborted(DEFAULT_CONTEXT.signal))).toBe('ok');
});
