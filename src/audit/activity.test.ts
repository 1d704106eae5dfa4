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

test('calls and violations are counted per client', () => {
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

test('takeChangedFigures returns only clients active since the last call', () => {
  const { activity, calls } = watched();
  calls(1);
  expect(activity.takeChangedFigures().map(({ client }) => client)).toEqual(['session-1']);
  expect(activity.takeChangedFigures()).toEqual([]);
  calls(1, other);
  expect(activity.takeChangedFigures().map(({ client }) => client)).toEqual(['ci']);
  expect(activity.figures()).toHaveLength(2);
});

test('a high call rate is reported, at most once a minute', () => {
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

test('the same number of calls over a longer time is not reported', () => {
  const { calls, unusual, pass } = watched();
  for (let i = 0; i < 10; i += 1) {
    calls(1_500);
    pass(10_000);
  }
  expect(unusual).toEqual([]);
});

test('repeated violations and many different denied paths are reported', () => {
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

test('anonymous clients are counted together', () => {
  const { activity } = watched();
  for (const key of ['anonymous:1', 'anonymous:2']) activity.call({ key, kind: 'anonymous', name: undefined }, false);
  expect(activity.figures()).toMatchObject([{ client: 'anonymous', calls: 2 }]);
});

test('the client inactive for longest is forgotten when there are too many', () => {
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

test('the number of remembered denied paths is limited', () => {
  const { activity } = watched();
  for (let i = 0; i < 5_000; i += 1) activity.violation(one, `../${i}`);
  expect(activity.figures()).toMatchObject([{ violations: 5_000, deniedPaths: 100 }]);
});
