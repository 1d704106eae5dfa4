import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { GRACE_MS } from '../../src/cli/start.ts';
import { SECRET } from '../support/balanced-replicas.ts';
import { recordFigure } from '../support/figures.ts';
import { noRedis, startRedis } from '../support/redis.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

/** How long `docker stop` waits before it kills. */
const DOCKER_MS = 10_000;
/** What a busy machine may take longer at times. */
const MARGIN_MS = 500;

test.skipIf(noRedis)(
  'a replica whose Redis hangs, and whose calls never end, stops before Docker kills it',
  { timeout: 120_000 },
  async () => {
    const dir = tempDir('ringfence-stop-');
    fs.writeFileSync(path.join(dir, 'endless.bin'), '');
    fs.truncateSync(path.join(dir, 'endless.bin'), 512 * 1024 ** 3);
    await using redis = await startRedis();
    onTestFinished(() => redis.resume());
    const start = (processes?: number) =>
      startServer({
        roots: [{ name: 'r', path: dir }],
        ...(processes !== undefined && { processes }),
        config: { cluster: { secret_env: 'CLUSTER_SECRET', redis: redis.url }, request_timeout: 300 },
        env: { CLUSTER_SECRET: SECRET },
      });
    const servers = await Promise.all([start(), start(2)]);
    for (const server of servers) {
      server.call('hash_file', { root: 'r', path: 'endless.bin', algorithm: 'sha256' }).catch(() => {});
    }
    await later(500);
    // Just before the calls are cancelled: a Redis that has been gone for longer is not waited for.
    void later(GRACE_MS - 200).then(() => redis.pause());
    const taken = await Promise.all(
      servers.map(async (server) => {
        const since = performance.now();
        expect(await server.stop()).toBe(0);
        return performance.now() - since;
      }),
    );
    const [one = 0, two = 0] = taken;
    recordFigure('stop of a replica whose Redis hangs: one process', Math.round(one), 'ms');
    recordFigure('stop of a replica whose Redis hangs: two processes', Math.round(two), 'ms');
    for (const milliseconds of taken) {
      // Else nothing was waited for.
      expect(milliseconds).toBeGreaterThan(GRACE_MS);
      expect(milliseconds).toBeLessThan(DOCKER_MS - MARGIN_MS);
    }
    for (const server of servers) await server[Symbol.asyncDispose]();
  },
);
