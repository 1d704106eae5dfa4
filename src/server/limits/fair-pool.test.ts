import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairPool } from './fair-pool.ts';

/** Takes one by one until there is no more for a client, and returns how many that were. */
function takeAll(pool: FairPool, client: string): number {
  let count = 0;
  while (pool.tryTake(client)) count += 1;
  return count;
}

test('a client that is alone can take everything', () => {
  expect(takeAll(new FairPool({ size: 100, clients: 1 }), 'a')).toBe(100);
});

test('whatever some clients take, a part is left for each of the others', () => {
  const pool = new FairPool({ size: 80, clients: 4 });
  expect(takeAll(pool, 'greedy')).toBe(65);
  expect(takeAll(pool, 'greedier')).toBe(5);
  expect([takeAll(pool, 'c'), takeAll(pool, 'd')]).toEqual([5, 5]);
  expect(pool.total).toBe(80);
  pool.give('greedy');
  expect([takeAll(pool, 'c'), takeAll(pool, 'greedy')]).toEqual([1, 0]);
});

test('clients of unknown number never take more than there is', () => {
  const pool = new FairPool({ size: 64 });
  expect(takeAll(pool, 'a')).toBe(52);
  const others = Array.from({ length: 100 }, (_, index) => takeAll(pool, `address ${index}`));
  expect(others.slice(0, 4)).toEqual([4, 4, 4, 0]);
  expect(pool.total).toBe(64);
});

test('a pool that is too small to divide is for whoever comes first', () => {
  expect(takeAll(new FairPool({ size: 2 }), 'a')).toBe(2);
});

test('what is given back can be taken again, by those who wait before others', async () => {
  const pool = new FairPool({ size: 2, clients: 1 });
  expect([pool.take('a'), pool.take('a')]).toEqual([undefined, undefined]);
  const order: string[] = [];
  const waiting = ['a1', 'a2', 'b1'].map((name) => pool.take(name.charAt(0))?.then(() => order.push(name)));
  expect(pool.tryTake('c')).toBe(false);
  for (const _ of waiting) {
    pool.give('a');
    await new Promise(setImmediate);
  }
  await Promise.all(waiting);
  expect(order).toEqual(['a1', 'b1', 'a2']);
});

test('what is forced counts, and keeps others out until it is given back', () => {
  const pool = new FairPool({ size: 4, clients: 1 });
  pool.force('a', 6);
  expect(pool.tryTake('a')).toBe(false);
  pool.give('a', 3);
  expect(pool.tryTake('a')).toBe(true);
  expect(pool.total).toBe(4);
});

test('property: with known clients, each gets its part at any time and the sum never exceeds the size', () => {
  const step = fc.record({ client: fc.nat(3), amount: fc.integer({ min: 1, max: 9 }), give: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const pool = new FairPool({ size: 160, clients: 4 });
      const held = [0, 0, 0, 0];
      for (const { client, amount, give } of steps) {
        const own = held[client] ?? 0;
        if (give) {
          pool.give(`${client}`, Math.min(own, amount));
          held[client] = own - Math.min(own, amount);
        } else if (pool.tryTake(`${client}`, amount)) held[client] = own + amount;
        else expect(own + amount).toBeGreaterThan(10);
        expect(pool.total).toBeLessThanOrEqual(160);
        expect(pool.total).toBe(held.reduce((sum, each) => sum + each, 0));
      }
    }),
  );
});
