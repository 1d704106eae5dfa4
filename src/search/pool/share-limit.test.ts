import { expect, test } from 'vitest';
import { ShareLimit, type Slot } from './share-limit.ts';

/** Enters searches of one share by weight. Returns their slots and the numbers of those that run, in order. */
function entered(weights: readonly number[]): { slots: Slot[]; running: number[] } {
  const limit = new ShareLimit();
  const running: number[] = [];
  const slots = weights.map((weight, i) => {
    const slot = limit.enter('a', weight);
    if (slot.ready === undefined) running.push(i);
    else void slot.ready.then(() => running.push(i));
    return slot;
  });
  return { slots, running };
}

async function leave(slot: Slot | undefined): Promise<void> {
  slot?.[Symbol.dispose]();
  await new Promise(setImmediate);
}

test('eight searches of a share run at once, the others in the order in which they came', async () => {
  const { slots, running } = entered(Array(11).fill(1));
  expect(running).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  await leave(slots[3]);
  expect(running.slice(8)).toEqual([8]);
  await leave(slots[9]);
  await leave(slots[0]);
  expect(running.slice(8)).toEqual([8, 10]);
});

test('a search that is heavier than the limit runs alone, and no lighter one overtakes it', async () => {
  const { slots, running } = entered([1, 9, 1]);
  expect(running).toEqual([0]);
  await leave(slots[0]);
  expect(running).toEqual([0, 1]);
  await leave(slots[1]);
  expect(running).toEqual([0, 1, 2]);
});

test('shares do not wait for each other', () => {
  const limit = new ShareLimit();
  for (let i = 0; i < 20; i += 1) limit.enter('a', 1);
  expect(limit.enter('b', 1).ready).toBeUndefined();
  expect(limit.waiting).toBe(12);
});
