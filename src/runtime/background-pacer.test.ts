import { expect, test } from 'vitest';
import { outcome } from '../fence/sandbox.fixture.ts';
import { backgroundPacer } from './background-pacer.ts';

const busy = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

test('rests most of the time', async () => {
  const pause = backgroundPacer(new AbortController().signal);
  const started = performance.now();
  let worked = 0;
  while (worked < 20) {
    await pause();
    busy(1);
    worked += 1;
  }
  // Even on a busy machine there is a rest after every few milliseconds of work.
  expect(performance.now() - started).toBeGreaterThan(5 * worked);
});

test('does not wait during a work slice', () => {
  const pause = backgroundPacer(new AbortController().signal);
  expect(pause()).toBeUndefined();
  busy(4);
  expect(pause()).toBeInstanceOf(Promise);
});

test('can be aborted, also during a rest', async () => {
  const stopping = new AbortController();
  const pause = backgroundPacer(stopping.signal);
  busy(4);
  const resting = outcome(Promise.resolve(pause()));
  stopping.abort();
  expect(await resting).toBe('cancelled');
  expect(() => pause()).toThrow('cancelled');
});
