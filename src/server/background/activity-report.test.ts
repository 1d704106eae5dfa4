import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { Activity } from '../../audit/activity.ts';
import type { Client } from '../../tools/client.ts';
import { reportActivity } from './activity-report.ts';

afterEach(() => void vi.useRealTimers());
const ci: Client = { key: 'principal:ci', kind: 'principal', name: 'ci' };

test('figures are logged every five minutes where there is something new, at the end, and when asked for', () => {
  vi.useFakeTimers();
  const lines: object[] = [];
  const logger = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const activity = new Activity({ unusual: () => {} });
  const report = reportActivity({ activity, logger });
  activity.call(ci, true);
  vi.advanceTimersByTime(11 * 60_000);
  const figures = { client: 'ci', calls: 1, errors: 1, violations: 0, denied_paths: 0, peak_calls_10s: 1 };
  expect(lines).toEqual([{ level: 30, ...figures, msg: 'client activity' }]);
  report.all();
  expect(lines).toHaveLength(2);
  report.stop();
  expect(lines).toHaveLength(2);
  activity.call(ci, false);
  report.stop();
  expect(lines[2]).toMatchObject({ client: 'ci', calls: 2, errors: 1 });
  expect(vi.getTimerCount()).toBe(0);
});
