import { setTimeout as later } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SECRET } from '../support/balanced-replicas.ts';
import { noRedis, startRedis } from '../support/redis.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

/** Longer than it takes every process to notice by itself. */
const NOTICED_MS = 5_000;

test.skipIf(noRedis)(
  'several processes say once that Redis is gone, also while they are replaced, and once that it is back',
  { timeout: 120_000 },
  async () => {
    await using redis = await startRedis();
    await using server = await startServer({
      roots: [{ name: 'r', path: tempDir('ringfence-process-redis-') }],
      processes: 2,
      era: 'modern',
      config: { cluster: { secret_env: 'CLUSTER_SECRET', redis: redis.url } },
      env: { CLUSTER_SECRET: SECRET },
    });
    const said = () => server.logs().filter(({ msg }) => String(msg).startsWith('redis is'));
    const gone = { level: 'warn', problem: 'unreachable', msg: expect.stringContaining('redis is not available') };
    const back = { level: 'info', msg: 'redis is available again' };
    await later(NOTICED_MS);
    await redis.kill();
    await expect.poll(said, { timeout: 15_000 }).toMatchObject([gone]);
    await later(NOTICED_MS);
    expect(said()).toMatchObject([gone]);
    server.signal('SIGHUP');
    await server.waitForLog(({ msg }) => msg === 'all workers are replaced');
    await later(NOTICED_MS);
    expect(said()).toMatchObject([gone]);
    await redis.start();
    await expect.poll(said, { timeout: 10_000 }).toMatchObject([gone, back]);
    await later(NOTICED_MS);
    expect(said()).toMatchObject([gone, back]);
    expect(said().every(({ worker }) => worker === undefined)).toBe(true);
  },
);
