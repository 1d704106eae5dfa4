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
    const [share = '', search = ''] = key.split(' ');
    scheduler.add({ share, search: Number(search) }, { work, done: over('done'), failed: over('failed') });
  });
}

test('a job waits for earlier jobs of its search, not for long jobs of other searches', async () => {
  const scheduler = new RoundRobin();
  const log: string[] = [];
  await Promise.all([
    started(scheduler, 'a 1', busy(100), log, 'long'),
    started(scheduler, 'a 1', busy(1), log, 'behind it'),
    started(scheduler, 'a 2', busy(1), log, 'short'),
  ]);
  expect(log).toEqual(['short done', 'long done', 'behind it done']);
});

test('a share with many searches gets no more turns than one with a single search', async () => {
  const scheduler = new RoundRobin();
  const log: string[] = [];
  const turns: string[] = [];
  /** Takes a whole turn with each step. */
  function* turn(name: string, steps: number): Coroutine<void> {
    for (let step = 0; step < steps; step += 1) {
      turns.push(name);
      for (const end = performance.now() + 10; performance.now() < end; );
      yield undefined;
    }
  }
  await Promise.all([
    ...Array.from({ length: 10 }, (_, i) => started(scheduler, `many ${i}`, turn('many', 3), log, `many ${i}`)),
    started(scheduler, 'one 10', turn('one', 8), log, 'one'),
  ]);
  expect(turns.slice(0, 16)).toEqual(Array.from({ length: 16 }, (_, i) => (i % 2 === 0 ? 'many' : 'one')));
  expect(log[0]).toBe('one done');
});

test('a failing job does not affect others', async () => {
  const scheduler = new RoundRobin();
  const log: string[] = [];
  // biome-ignore lint/correctness/useYield: fails before its first pause
  function* broken(): Coroutine<void> {
    throw new Error('broken');
  }
  await Promise.all([started(scheduler, 'a 1', broken(), log, 'bad'), started(scheduler, 'a 1', busy(1), log, 'good')]);
  expect(log).toEqual(['bad failed', 'good done']);
});
