import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CommonOutage } from './store-outage.ts';

let told: string[];
let outage: CommonOutage;

beforeEach(() => {
  vi.useFakeTimers();
  told = [];
  outage = new CommonOutage({ lost: (problem) => told.push(problem), back: () => told.push('back') });
});
afterEach(() => void vi.useRealTimers());

test('the first process that loses Redis is told of, and that all have it again, each time', () => {
  for (const problem of ['unreachable', 'timed_out'] as const) {
    told = [];
    outage.lost(1, problem);
    outage.lost(2, 'full');
    expect(told).toEqual([problem]);
    outage.back(2);
    expect(told).toEqual([problem]);
    outage.back(1);
    expect(told).toEqual([problem, 'back']);
  }
});

test('processes that are replaced during an outage are no end of it, and no other one', () => {
  outage.lost(1, 'unreachable');
  outage.ended(1);
  vi.advanceTimersByTime(3_000);
  outage.lost(2, 'unreachable');
  vi.advanceTimersByTime(60_000);
  expect(told).toEqual(['unreachable']);
  outage.back(2);
  expect(told).toEqual(['unreachable', 'back']);
});

test('an outage ends with the only process that has seen it, after a while', () => {
  outage.lost(1, 'unreachable');
  outage.ended(2);
  outage.ended(1);
  expect(told).toEqual(['unreachable']);
  vi.advanceTimersByTime(30_000);
  expect(told).toEqual(['unreachable', 'back']);
  outage.back(1);
  expect(told).toHaveLength(2);
});
