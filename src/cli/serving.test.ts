import { expect, test } from 'vitest';
import type { RootConfig } from '../config/config.ts';
import { KEEP_ALIVE_MS } from '../server/http/http-server.ts';
import { retirementMs } from './serving.ts';

const TIMES = {
  requestTimeout: 30,
  confirmTimeout: 60,
  roots: [],
  dialects: [{ name: 'workspace', root: undefined }],
} as const;

test('a process that is replaced stays until the longest call on its connections can have ended', () => {
  const idleMs = retirementMs({ ...TIMES, requestTimeout: 0, confirmTimeout: 0 });
  expect(idleMs).toBeGreaterThan(KEEP_ALIVE_MS);
  expect(retirementMs(TIMES)).toBe(idleMs + 90_000);
  expect(retirementMs({ ...TIMES, requestTimeout: 600, confirmTimeout: 300 })).toBe(idleMs + 900_000);
  const agent = { allowedPaths: undefined, cacheBytes: 1, timeout: 45 };
  const roots = [{ name: 'r' }, { name: 'a', agent }] as RootConfig[];
  expect(retirementMs({ ...TIMES, roots })).toBe(idleMs + 135_000);
});
