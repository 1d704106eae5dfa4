import { expect, test } from 'vitest';
import type { Coroutine } from '../task/steps.ts';
import { RoundRobin } from './round-robin.ts';

/** So many steps of a millisecond each: however slow the machine, far more than fit into one turn. */
function* busy(steps: number): Coroutine<void> {
  for (let step = 0; step < steps; step += 1) {
    for (const end = performance.now() + 1; performance.now() < end; );
    yield undefined;
  }
}

function started(lanes: RoundRobin, lane: string, steps: Coroutine<void>, log: string[], name: string): Promise<void> {
  return new Promise((resolve) => {
    const over = (how: string) => () => {
      log.push(`${name} ${how}`);
      resolve();
    };
    lanes.add(lane, { steps, done: over('done'), failed: over('failed') });
  });
}

test('a short job does not wait for a long one in another lane, but for those before it in its own', async () => {
  const lanes = new RoundRobin();
  const log: string[] = [];
  await Promise.all([
    started(lanes, 'one', busy(100), log, 'long'),
    started(lanes, 'one', busy(1), log, 'behind it'),
    started(lanes, 'two', busy(1), log, 'short'),
  ]);
  expect(log).toEqual(['short done', 'long done', 'behind it done']);
});

test('a job that fails ends alone', async () => {
  const lanes = new RoundRobin();
  const log: string[] = [];
  // biome-ignore lint/correctness/useYield: fails before its first pause
  function* broken(): Coroutine<void> {
    throw new Error('broken');
  }
  await Promise.all([started(lanes, 'one', broken(), log, 'bad'), started(lanes, 'one', busy(1), log, 'good')]);
  expect(log).toEqual(['bad failed', 'good done']);
});
