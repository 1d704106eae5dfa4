import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SECRET } from '../support/balanced-replicas.ts';
import { RawClient } from '../support/raw-client.ts';
import { noRedis, startRedis } from '../support/redis.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const BYTES = 512 * 1024 ** 2;

/** Asks for the status of `/ready` on a new connection. Resolves with undefined if that fails. */
function readiness(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const request = http.get(new URL('/ready', url), { agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', () => resolve(undefined));
  });
}

test.skipIf(noRedis)(
  'a replica of several processes that all get SIGTERM at once, as from systemd, answers until its port closes',
  { timeout: 60_000 },
  async () => {
    const dir = tempDir('ringfence-signal-to-all-');
    fs.writeFileSync(path.join(dir, 'a.txt'), 'hello\n');
    fs.writeFileSync(path.join(dir, 'seconds.bin'), '');
    fs.truncateSync(path.join(dir, 'seconds.bin'), BYTES);
    await using redis = await startRedis();
    await using server = await startServer({
      roots: [{ name: 'r', path: dir }],
      processes: 2,
      era: 'modern',
      config: { cluster: { secret_env: 'CLUSTER_SECRET', redis: redis.url } },
      env: { CLUSTER_SECRET: SECRET },
    });
    const call = async (tool: string, args: object): Promise<{ size: number }> => {
      const client = new RawClient(server.url);
      return client.call(tool, { root: 'r', ...args }).finally(() => client.close());
    };
    const failures: { readonly at: number; readonly error: string }[] = [];
    let calls = 0;
    let isOver = false;
    const callOn = async (): Promise<void> => {
      for (; !isOver; calls += 1) {
        await call('read_file', { path: 'a.txt' }).catch((error: unknown) => {
          failures.push({ at: Date.now(), error: String(error) });
          isOver = true;
        });
      }
    };
    const callers = Array.from({ length: 4 }, callOn);
    const hashed = call('hash_file', { path: 'seconds.bin', algorithm: 'sha256' });
    await later(300);

    for (const pid of server.workers()) process.kill(pid, 'SIGTERM');
    const ended = server.stop('SIGTERM');
    await server.waitForLog(({ msg, worker }) => msg === 'draining' && worker === undefined);
    await later(50);
    const callsBefore = calls;
    const statuses: number[] = [];
    for (let status = await readiness(server.url); status !== undefined; status = await readiness(server.url)) {
      statuses.push(status);
      await later(20);
    }
    expect((await hashed).size).toBe(BYTES);
    isOver = true;
    await Promise.all(callers);
    expect(await ended).toBe(0);

    const closed = server.logs().find(({ msg, worker }) => msg === 'stopping' && worker === undefined);
    expect(failures.filter(({ at }) => at < Date.parse(closed?.time))).toEqual([]);
    expect(statuses.filter((status) => status !== 503)).toEqual([]);
    expect(statuses.length).toBeGreaterThan(10);
    expect(calls).toBeGreaterThan(callsBefore);
    expect(server.logs().filter(({ msg }) => msg === 'draining')).toHaveLength(1);
  },
);
