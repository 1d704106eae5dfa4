import { expect, onTestFinished, test, vi } from 'vitest';
import type { RootConfig } from '../config/config.ts';
import { defaultConfig } from '../config/defaults.ts';
import { KEEP_ALIVE_MS } from '../server/http/http-server.ts';
import { retirementMs, startServing } from './serving.ts';
import { STOP_MS } from './start.ts';

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

test('a stop ends in time although clients and Redis hang', { timeout: 30_000 }, async () => {
  process.env.RINGFENCE_LANDLOCK = 'off';
  onTestFinished(() => void delete process.env.RINGFENCE_LANDLOCK);
  const serving = await startServing({ ...defaultConfig(), port: 0, roots: [], logLevel: 'error' }, { listens: true });
  const never = new Promise<never>(() => {});
  const close = vi.spyOn(serving.http, 'close').mockReturnValue(never);
  const since = performance.now();
  await serving.stop({});
  const took = performance.now() - since;
  expect(took).toBeGreaterThan(STOP_MS - 50);
  expect(took).toBeLessThan(10_000);
  close.mockRestore();
  await serving.http.close(0);
});
