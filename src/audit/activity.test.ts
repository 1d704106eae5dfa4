import { expect, test } from 'vitest';
import type { Client } from '../tools/client.ts';
import { Activity, type UnusualActivity } from './activity.ts';

const one: Client = { key: 'session:1', kind: 'session', name: 'session-1' };
const other: Client = { key: 'principal:ci', kind: 'principal', name: 'ci' };

function watched(maxClients?: number) {
  const unusual: UnusualActivity[] = [];
  let now = 1_000_000;
  const activity = new Activity({ unusual: (what) => unusual.push(what), now: () => now, maxClients });
  return {
    activity,
    unusual,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
    calls: (count: number, client = one) => {
      for (let i = 0; i < count; i += 1) activity.call(client, false);
    },
  };
}

test('figures are kept by client', () => {
  const { activity, calls, pass } = watched();
  calls(3);
  activity.call(one, true);
  pass(20_000);
  calls(1);
  activity.call(other, true);
  expect(activity.violation(other, '../etc')).toBe(0);
  expect(activity.violation(other, '../etc')).toBe(1);
  expect(activity.violation(other, '../usr')).toBe(2);
  expect(activity.figures()).toEqual([
    { client: 'session-1', calls: 5, errors: 1, violations: 0, deniedPaths: 0, peakCalls: 4 },
    { client: 'ci', calls: 1, errors: 1, violations: 3, deniedPaths: 2, peakCalls: 1 },
  ]);
});

test('only those who did something since are in the next report', () => {
  const { activity, calls } = watched();
  calls(1);
  expect(activity.news().map(({ client }) => client)).toEqual(['session-1']);
  expect(activity.news()).toEqual([]);
  calls(1, other);
  expect(activity.news().map(({ client }) => client)).toEqual(['ci']);
  expect(activity.figures()).toHaveLength(2);
});

test('more calls than anyone needs are unusual, once in a while', () => {
  const { calls, unusual, pass } = watched();
  calls(2_000);
  expect(unusual).toEqual([]);
  calls(500);
  expect(unusual).toEqual([{ client: 'session-1', pattern: 'call_rate', count: 2_001, seconds: 10 }]);
  pass(30_000);
  calls(2_500);
  expect(unusual).toHaveLength(1);
  pass(40_000);
  calls(2_500);
  expect(unusual).toHaveLength(2);
});

test('as many over a longer time are not', () => {
  const { calls, unusual, pass } = watched();
  for (let i = 0; i < 10; i += 1) {
    calls(1_500);
    pass(10_000);
  }
  expect(unusual).toEqual([]);
});

test('the same violation again and again is unusual, and so are many different ones', () => {
  const { activity, unusual, pass } = watched();
  for (let i = 0; i < 60; i += 1) activity.violation(one, '../x');
  for (let i = 0; i < 60; i += 1) activity.violation(other, `../${i}`);
  expect(unusual).toEqual([
    { client: 'session-1', pattern: 'repeated_violations', count: 20, seconds: 60 },
    { client: 'ci', pattern: 'many_denied_paths', count: 10, seconds: 60 },
    { client: 'ci', pattern: 'repeated_violations', count: 20, seconds: 60 },
  ]);
  pass(61_000);
  expect(activity.violation(one, '../x')).toBe(60);
  expect(unusual).toHaveLength(3);
});

test('clients without a name are counted together', () => {
  const { activity } = watched();
  for (const key of ['anonymous:1', 'anonymous:2']) activity.call({ key, kind: 'anonymous', name: undefined }, false);
  expect(activity.figures()).toMatchObject([{ client: 'anonymous', calls: 2 }]);
});

test('of too many clients the one unseen for longest is forgotten', () => {
  const { activity, calls, pass } = watched(2);
  calls(1);
  pass(1);
  calls(1, other);
  pass(1);
  calls(1);
  pass(1);
  calls(1, { key: 'session:3', kind: 'session', name: 'session-3' });
  expect(activity.figures().map(({ client }) => client)).toEqual(['session-1', 'session-3']);
});

test('what is remembered of denied paths is bounded', () => {
  const { activity } = watched();
  for (let i = 0; i < 5_000; i += 1) activity.violation(one, `../${i}`);
  expect(activity.figures()).toMatchObject([{ violations: 5_000, deniedPaths: 100 }]);
});
