import { expect, test } from 'vitest';
import { FairScheduler } from './fair-scheduler.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function work(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

test('new tasks begin in order, as many per turn as time allows, with I/O in between', async () => {
  const scheduler = new FairScheduler();
  const begun: number[] = [];
  for (let number = 0; number < 40; number += 1)
    void (async () => {
      await scheduler.admit();
      // Continues after a promise that is already resolved.
      await undefined;
      begun.push(number);
      work(2);
    })();
  const counts: number[] = [];
  while (begun.length < 40) {
    await turn();
    counts.push(begun.length);
  }
  expect(begun).toEqual(Array.from({ length: 40 }, (_, number) => number));
  expect(counts.length).toBeGreaterThan(5);
  await turn();
  await turn();
  expect(scheduler.admit()).toBeUndefined();
});

test('each turn resumes one long task for a slice, in order, and none starves', async () => {
  const scheduler = new FairScheduler();
  const went: number[] = [];
  let turns = 0;
  let running = 10;
  const all = Array.from({ length: 10 }, async (_, number) => {
    for (let step = 0; step < 12; step += 1) {
      if (went.at(-1) !== number) went.push(number);
      work(1);
      await scheduler.yieldTurn();
    }
    running -= 1;
  });
  while (running > 0) {
    turns += 1;
    await turn();
  }
  await Promise.all(all);
  // 120 ms of work, at most about 5 ms of it per turn.
  expect(turns).toBeGreaterThan(10);
  const first = went.slice(0, 10);
  expect(first).toEqual([...first].sort((a, b) => a - b));
});

test('a new task does not wait for a long task to end', async () => {
  const scheduler = new FairScheduler();
  let running = 20;
  for (let number = 0; number < 20; number += 1)
    void (async () => {
      for (let step = 0; step < 20; step += 1) {
        work(1);
        await scheduler.yieldTurn();
      }
      running -= 1;
    })();
  await scheduler.admit();
  expect(running).toBeGreaterThan(15);
  while (running > 0) await turn();
});

test('shortenNextTurn shortens the next turn', async () => {
  const scheduler = new FairScheduler();
  let steps = 0;
  const long = (async () => {
    for (; steps < 30; steps += 1) {
      work(1);
      await scheduler.yieldTurn();
    }
  })();
  const counts: number[] = [];
  while (steps < 30) {
    const before = steps;
    scheduler.shortenNextTurn();
    await turn();
    counts.push(steps - before);
  }
  await long;
  expect(Math.max(...counts.slice(1))).toBeLessThanOrEqual(2);
});

test('a new task does not overtake waiting ones', async () => {
  const scheduler = new FairScheduler();
  const begun: number[] = [];
  const begin = async (number: number): Promise<void> => {
    await scheduler.admit();
    begun.push(number);
    work(1);
  };
  const all = Array.from({ length: 40 }, (_, number) => begin(number));
  await turn();
  all.push(begin(40));
  await Promise.all(all);
  expect(begun.at(-1)).toBe(40);
});

test('a single task does not wait', async () => {
  const scheduler = new FairScheduler();
  let waits = 0;
  for (let number = 0; number < 100; number += 1) {
    if (scheduler.admit() !== undefined) waits += 1;
    if (scheduler.yieldTurn() !== undefined) waits += 1;
    await turn();
    await turn();
  }
  // On a busy machine a turn may end between the two calls.
  expect(waits).toBeLessThan(20);
});
