import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BALANCERS, noBalancer } from '../support/balancer.ts';
import { configOf, leaveOut, startDeployedBalancer } from '../support/deployed-balancer.ts';
import { recordFigure } from '../support/figures.ts';
import { RawClient } from '../support/raw-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { connectHttp } from '../support/tool-client.ts';

const SECRET = 'a secret of the replicas in these tests';
const DEPLOY = new URL('../../deploy/', import.meta.url).pathname;
/**
 * A file that takes longer to hash than a replica is told to end after, and on a busy machine less than it has to end.
 */
const LONG_BYTES = 160 * 1024 ** 2;
const portOf = ({ url }: TestServer): number => Number(new URL(url).port);

/** Replicas that serve one folder and sign with one secret. Nothing of what is tested here needs Redis. */
async function startReplicas(count: number, dir: string): Promise<TestServer[]> {
  const cluster = { secret_env: 'RINGFENCE_TEST_SECRET', redis: 'redis://127.0.0.1:1' };
  const servers = await Promise.all(
    Array.from({ length: count }, () =>
      startServer({
        roots: [{ name: 'r', path: dir }],
        config: { cluster, log_level: 'debug', request_timeout: 300 },
        env: { RINGFENCE_TEST_SECRET: SECRET },
      }),
    ),
  );
  onTestFinished(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
  });
  return servers;
}

function folder(): string {
  const dir = tempDir('ringfence-balanced-');
  fs.writeFileSync(path.join(dir, 'a.txt'), 'hello\n');
  for (const [name, size] of Object.entries({ 'big.bin': 512 * 1024 ** 2, 'long.bin': LONG_BYTES })) {
    fs.writeFileSync(path.join(dir, name), '');
    fs.truncateSync(path.join(dir, name), size);
  }
  return dir;
}

test.skipIf(noBalancer('haproxy'))('haproxy finds nothing wrong with its config', () => {
  const { status, stdout, stderr } = spawnSync('haproxy', ['-c', '-f', path.join(DEPLOY, 'haproxy.cfg')], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('valid');
});

test.skipIf(noBalancer('nginx'))('nginx finds nothing wrong with its config', () => {
  const dir = tempDir('ringfence-nginx-');
  const file = path.join(dir, 'nginx.conf');
  fs.writeFileSync(file, configOf('nginx', 8080, [8091]));
  const args = ['-t', '-p', dir, '-c', file, '-g', `pid ${dir}/pid; error_log stderr warn;`];
  const { status, stderr } = spawnSync('nginx', args, { encoding: 'utf8' });
  expect(stderr).toContain('test is successful');
  expect(stderr).not.toContain('[warn]');
  expect(status).toBe(0);
});

test.skipIf(noBalancer('haproxy'))(
  'haproxy keeps a replica that takes two seconds to say that it is ready',
  async () => {
    const replica = http.createServer((request, response) => {
      if (request.url !== '/ready') return response.end('served');
      return setTimeout(() => response.end(), 2_000);
    });
    await once(replica.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => {
      replica.closeAllConnections();
      replica.close();
    });
    await using balancer = await startDeployedBalancer('haproxy', [(replica.address() as AddressInfo).port]);
    // Until it has been asked several times.
    await later(6_500);
    const response = await fetch(balancer.url);
    expect({ status: response.status, text: await response.text() }).toEqual({ status: 200, text: 'served' });
  },
);

describe.each(BALANCERS)('%s with the config of deploy/', (name) => {
  const missing = noBalancer(name);
  const withBalancer = test.skipIf(missing);
  const why = missing === undefined ? '' : ` (skipped: ${missing})`;

  withBalancer(`spreads the calls of a session over all replicas${why}`, async () => {
    const dir = folder();
    const servers = await startReplicas(3, dir);
    await using balancer = await startDeployedBalancer(name, servers.map(portOf));
    await using client = await connectHttp(balancer.url);
    const calls = Array.from({ length: 30 }, () => client.ok('read_file', { root: 'r', path: 'a.txt' }));
    for (const { content } of await Promise.all(calls)) expect(content).toBe('hello\n');
    const reads = (server: TestServer) => server.logs().filter(({ tool }) => tool === 'read_file').length;
    await expect.poll(() => servers.map(reads).reduce((sum, count) => sum + count, 0)).toBe(30);
    for (const server of servers) expect(reads(server)).toBeGreaterThan(0);
  });

  withBalancer(`passes progress on while the call runs${why}`, async () => {
    const servers = await startReplicas(2, folder());
    await using balancer = await startDeployedBalancer(name, servers.map(portOf));
    await using client = await connectHttp(balancer.url);
    const started = performance.now();
    const times: number[] = [];
    await client.ok(
      'hash_file',
      { root: 'r', path: 'big.bin', algorithm: 'sha256' },
      { onprogress: () => times.push(performance.now() - started) },
    );
    const took = performance.now() - started;
    expect(times.length).toBeGreaterThan(1);
    // Buffered, all would arrive with the result.
    expect(times[0]).toBeLessThan(took * 0.8);
  });

  withBalancer(`sends no call to a replica that drains, and loses none${why}`, { timeout: 60_000 }, async () => {
    const servers = await startReplicas(2, folder());
    const [leaving, staying] = servers as [TestServer, TestServer];
    await using balancer = await startDeployedBalancer(name, servers.map(portOf));
    // nginx does not ask whether a replica is ready, and closes idle connections of clients when it reloads.
    if (name === 'nginx') await leaveOut(balancer, portOf(leaving));
    let isOver = false;
    const failures: string[] = [];
    const clients = Array.from({ length: 6 }, async () => {
      const client = new RawClient(balancer.url);
      let calls = 0;
      while (!isOver) {
        await client.call('read_file', { root: 'r', path: 'a.txt' }).catch((error) => failures.push(String(error)));
        calls += 1;
      }
      client.close();
      return calls;
    });
    await later(500);
    // A call that takes a while when the replica is told to end is finished and answered.
    const long = new RawClient(leaving.url);
    const hash = long.call('hash_file', { root: 'r', path: 'long.bin', algorithm: 'sha256' });
    await later(100);
    const ended = leaving.stop('SIGTERM');
    await expect.poll(async () => (await fetch(new URL('/ready', leaving.url))).status).toBe(503);
    expect((await hash).size).toBe(LONG_BYTES);
    expect(await ended).toBe(0);
    long.close();
    await later(1_500);
    isOver = true;
    const calls = (await Promise.all(clients)).reduce((sum, count) => sum + count, 0);
    recordFigure(`${name}, a replica drains under load: failed`, failures.length, `of ${calls}`);
    expect(failures).toEqual([]);
    expect((await fetch(new URL('/ready', balancer.url))).status).toBe(200);
    expect((await fetch(new URL('/ready', staying.url))).status).toBe(200);
  });
});
