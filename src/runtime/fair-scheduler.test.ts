import { expect, test } from 'vitest';
import { FairScheduler } from './fair-scheduler.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function work(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

test('what is new begins in order, as much in each turn as there is time for, with room for others in between', async () => {
  const pace = new FairScheduler();
  const begun: number[] = [];
  for (let number = 0; number < 40; number += 1)
    void (async () => {
      await pace.admit();
      // Some of it is done only after an answer that is there already.
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
  expect(pace.admit()).toBeUndefined();
});

test('of many that take long one goes on in each turn for a while, in order, and none is forgotten', async () => {
  const pace = new FairScheduler();
  const went: number[] = [];
  let turns = 0;
  let running = 10;
  const all = Array.from({ length: 10 }, async (_, number) => {
    for (let step = 0; step < 12; step += 1) {
      if (went.at(-1) !== number) went.push(number);
      work(1);
      await pace.yieldTurn();
    }
    running -= 1;
  });
  while (running > 0) {
    turns += 1;
    await turn();
  }
  await Promise.all(all);
  // 120 ms of work, at most about 5 of them in each turn.
  expect(turns).toBeGreaterThan(10);
  const first = went.slice(0, 10);
  expect(first).toEqual([...first].sort((a, b) => a - b));
});

test('what is new does not wait for the end of what takes long', async () => {
  const pace = new FairScheduler();
  let running = 20;
  for (let number = 0; number < 20; number += 1)
    void (async () => {
      for (let step = 0; step < 20; step += 1) {
        work(1);
        await pace.yieldTurn();
      }
      running -= 1;
    })();
  await pace.admit();
  expect(running).toBeGreaterThan(15);
  while (running > 0) await turn();
});

test('a turn may be made short', async () => {
  const pace = new FairScheduler();
  let steps = 0;
  const long = (async () => {
    for (; steps < 30; steps += 1) {
      work(1);
      await pace.yieldTurn();
    }
  })();
  const counts: number[] = [];
  while (steps < 30) {
    const before = steps;
    pace.shortenNextTurn();
    await turn();
    counts.push(steps - before);
  }
  await long;
  expect(Math.max(...counts.slice(1))).toBeLessThanOrEqual(2);
});

test('one that comes while others wait does not overtake them', async () => {
  const pace = new FairScheduler();
  const begun: number[] = [];
  const begin = async (number: number): Promise<void> => {
    await pace.admit();
    begun.push(number);
    work(1);
  };
  const all = Array.from({ length: 40 }, (_, number) => begin(number));
  await turn();
  all.push(begin(40));
  await Promise.all(all);
  expect(begun.at(-1)).toBe(40);
});

test('alone it does not wait', async () => {
  const pace = new FairScheduler();
  let waits = 0;
  for (let number = 0; number < 100; number += 1) {
    if (pace.admit() !== undefined) waits += 1;
    if (pace.yieldTurn() !== undefined) waits += 1;
    await turn();
    await turn();
  }
  // Where the machine has other things to do, a turn may be over between the two.
  expect(waits).toBeLessThan(20);
});
