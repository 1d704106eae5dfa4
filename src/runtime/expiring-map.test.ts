import { expect, test, vi } from 'vitest';
import { ExpiringMap } from './expiring-map.ts';

const LONG_MS = 60_000;

test('a full map drops an eighth of its entries at once, those that were set least recently', () => {
  const map = new ExpiringMap<number>({ maxEntries: 2_000 });
  for (let i = 0; i < 1_999; i += 1) map.set(`${i}`, i, LONG_MS);
  expect(map.get('0')).toBe(0);
  map.set('0', 0, LONG_MS);
  map.set('1999', 1_999, LONG_MS);
  const kept = Array.from({ length: 2_000 }, (_, i) => i).filter((i) => map.get(`${i}`) !== undefined);
  expect(kept).toEqual([0, ...Array.from({ length: 1_749 }, (_, i) => i + 251)]);
});

test('to set an entry of a full map costs about as much as of one that fills', () => {
  const map = new ExpiringMap<number>();
  const timeOf = (from: number, count: number): number => {
    const started = performance.now();
    for (let i = from; i < from + count; i += 1) map.set(`${i}`, i, LONG_MS);
    return performance.now() - started;
  };
  const filling = timeOf(0, 100_000);
  expect(timeOf(100_000, 20_000)).toBeLessThan(filling * 50);
});

test('expired entries give way before others', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const map = new ExpiringMap<number>({ maxEntries: 1_500 });
    map.set('oldest', 1, LONG_MS);
    for (let i = 0; i < 1_000; i += 1) map.set(`short ${i}`, i, 10);
    vi.advanceTimersByTime(20);
    for (let i = 0; i < 600; i += 1) map.set(`${i}`, i, LONG_MS);
    expect(map.get('oldest')).toBe(1);
    expect(map.get('0')).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('entries give way to the weight of others, and what is removed or replaced weighs nothing', () => {
  const map = new ExpiringMap<string>({ maxWeight: 80 });
  for (const key of ['a', 'b', 'c']) map.set(key, key, LONG_MS, 20);
  map.set('b', 'b', LONG_MS, 20);
  map.delete('c');
  map.set('d', 'd', LONG_MS, 40);
  expect(['a', 'b', 'd'].map((key) => map.get(key))).toEqual(['a', 'b', 'd']);
  map.set('e', 'e', LONG_MS, 1);
  // Down to 7/8 of 80.
  expect(['a', 'b', 'd', 'e'].map((key) => map.get(key))).toEqual([undefined, 'b', 'd', 'e']);
  map.set('f', 'f', LONG_MS, 1_000);
  expect(['b', 'd', 'e', 'f'].map((key) => map.get(key))).toEqual([undefined, undefined, undefined, 'f']);
});
