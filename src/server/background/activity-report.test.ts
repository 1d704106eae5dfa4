import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { Activity } from '../../audit/activity.ts';
import { MemoryStore } from '../../cluster/memory-store.ts';
import { StoreUnavailable } from '../../cluster/shared-store.ts';
import type { Client } from '../../tools/client.ts';
import { reportActivity } from './activity-report.ts';

afterEach(() => void vi.useRealTimers());
const ci: Client = { key: 'principal:ci', kind: 'principal', name: 'ci' };

test('figures are logged every five minutes where there is something new, at the end, and when asked for', async () => {
  vi.useFakeTimers();
  const lines: object[] = [];
  const logger = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const activity = new Activity({ unusual: () => {} });
  const report = reportActivity({ activity, logger });
  activity.call(ci, true);
  await vi.advanceTimersByTimeAsync(11 * 60_000);
  const figures = { client: 'ci', calls: 1, errors: 1, violations: 0, denied_paths: 0, peak_calls_10s: 1 };
  expect(lines).toEqual([{ level: 30, ...figures, msg: 'client activity' }]);
  report.all();
  expect(lines).toHaveLength(2);
  await report.stop();
  expect(lines).toHaveLength(2);
  activity.call(ci, false);
  await report.stop();
  expect(lines[2]).toMatchObject({ client: 'ci', calls: 2, errors: 1 });
  expect(vi.getTimerCount()).toBe(0);
});

test('replicas add up their figures', async () => {
  const lines: object[] = [];
  const logger = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const store = new MemoryStore();
  const replica = () => {
    const activity = new Activity({ unusual: () => {} });
    return { activity, report: reportActivity({ activity, logger, store }) };
  };
  const [one, other] = [replica(), replica()];
  one.activity.call(ci, true);
  await one.report.stop();
  other.activity.call(ci, false);
  other.activity.violation(ci, 'x');
  await other.report.stop();
  one.activity.call(ci, false);
  await one.report.stop();
  expect(lines).toMatchObject([
    { calls: 1, errors: 1, all_replicas: { calls: 1, errors: 1, violations: 0 } },
    { calls: 1, errors: 0, all_replicas: { calls: 2, errors: 1, violations: 1 } },
    { calls: 2, errors: 1, all_replicas: { calls: 3, errors: 1, violations: 1 } },
  ]);
});

test('what was added for a client that is forgotten here is forgotten, too', async () => {
  const lines: { all_replicas?: object }[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const activity = new Activity({ unusual: () => {}, maxClients: 1 });
  const report = reportActivity({ activity, logger, store: new MemoryStore() });
  const other: Client = { key: 'principal:other', kind: 'principal', name: 'other' };
  for (const clients of [[ci], [other], [ci, ci]]) {
    for (const client of clients) activity.call(client, false);
    await report.stop();
  }
  expect(lines.at(-1)).toMatchObject({ client: 'ci', calls: 2, all_replicas: { calls: 3 } });
});

test('without the store a replica logs its own figures', async () => {
  const lines: object[] = [];
  const logger = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  class Broken extends MemoryStore {
    override async increment(): Promise<number> {
      throw new StoreUnavailable('unreachable');
    }
  }
  const activity = new Activity({ unusual: () => {} });
  const report = reportActivity({ activity, logger, store: new Broken() });
  activity.call(ci, true);
  await report.stop();
  expect(lines).toMatchObject([{ calls: 1 }]);
  expect(lines[0]).not.toHaveProperty('all_replicas');
});
