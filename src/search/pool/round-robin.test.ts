import { expect, test } from 'vitest';
import type { Coroutine } from './round-robin.ts';
import { RoundRobin } from './round-robin.ts';

/** Runs steps of one millisecond each, far more than fit into one turn on any machine. */
function* busy(steps: number): Coroutine<void> {
  for (let step = 0; step < steps; step += 1) {
    for (const end = performance.now() + 1; performance.now() < end; );
    yield undefined;
  }
}

function started(
  scheduler: RoundRobin,
  key: string,
  work: Coroutine<void>,
  log: string[],
  name: string,
): Promise<void> {
  return new Promise((resolve) => {
    const over = (how: string) => () => {
      log.push(`${name} ${how}`);
      resolve();
    };
    scheduler.add(key, { work, done: over('done'), failed: over('failed') });
  });
}

test('a job waits for earlier jobs with its key, not for long jobs with other keys', async () => {
  const scheduler = new RoundRobin();
  const log: string[] = [];
  await Promise.all([
    started(scheduler, 'one', busy(100), log, 'long'),
    started(scheduler, 'one', busy(1), log, 'behind it'),
    started(scheduler, 'two', busy(1), log, 'short'),
  ]);
  expect(log).toEqual(['short done', 'long done', 'behind it done']);
});

test('a failing job does not affect others', async () => {
  const scheduler = new RoundRobin();
  const log: string[] = [];
  // biome-ignore lint/correctness/useYield: fails before its first pause
  function* broken(): Coroutine<void> {
    throw new Error('broken');
  }
  await Promise.all([started(scheduler, 'one', broken(), log, 'bad'), started(scheduler, 'one', busy(1), log, 'good')]);
  expect(log).toEqual(['bad failed', 'good done']);
});
