import fs from 'node:fs/promises';
import { setTimeout as later } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { atMost } from './at-most.ts';

test('resolves with what the work does in time, else with nothing, or what is given instead', async () => {
  expect(await atMost(5_000, Promise.resolve('done'))).toBe('done');
  expect(await atMost(10, later(5_000, 'late', { ref: false }))).toBeUndefined();
  expect(await atMost(10, later(5_000, 'late', { ref: false }), () => 'instead')).toBe('instead');
});

test('rejects if the work does in time, or if what is done instead throws', async () => {
  await expect(atMost(5_000, Promise.reject(new Error('work')))).rejects.toThrow('work');
  const instead = (): never => {
    throw new Error('too late');
  };
  await expect(atMost(10, later(5_000, 'late', { ref: false }), instead)).rejects.toThrow('too late');
});

test('that work rejects after its time is no unhandled rejection', async () => {
  let reject: (error: Error) => void = () => {};
  const work = new Promise<void>((_, no) => {
    reject = no;
  });
  await atMost(5, work);
  reject(new Error('much later'));
  await later(5);
});

test('what has arrived in time counts, also if the process was too busy to read it', async () => {
  // From here, the event loop comes to its timers first.
  await new Promise(setImmediate);
  const arriving = fs.stat('/').then(() => 'arrived');
  const result = atMost(20, arriving);
  for (const until = performance.now() + 100; performance.now() < until; );
  expect(await result).toBe('arrived');
});
