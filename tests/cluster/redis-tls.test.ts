import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SECRET } from '../support/balanced-replicas.ts';
import { noTls, type RedisServer, startRedis } from '../support/redis.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const AT = { root: 'workspace', path: 'a.txt' };

describe.skipIf(noTls)(`Redis with TLS and a password${noTls === undefined ? '' : ` (skipped: ${noTls})`}`, () => {
  let redis: RedisServer;
  let folder: string;

  beforeAll(async () => {
    redis = await startRedis({ tls: true, password: 'the-password-of-redis' });
    folder = tempDir('ringfence-redis-tls-');
  });

  afterAll(async () => {
    await redis?.[Symbol.asyncDispose]();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  const start = (env: Record<string, string>, processes?: number) =>
    startServer({
      roots: [{ name: 'workspace', path: folder }],
      config: { cluster: { secret_env: 'CLUSTER_SECRET', redis: redis.url }, hardening: { landlock: 'require' } },
      env: { CLUSTER_SECRET: SECRET, ...env },
      ...(processes !== undefined && { processes }),
    });

  const missing = async (url: string): Promise<unknown> =>
    ((await (await fetch(new URL('/ready', url))).json()) as { missing?: unknown }).missing;

  test.each([undefined, 2])('has the leases of a server that trusts its certificate (%s processes)', async (count) => {
    await using server = await start({ NODE_EXTRA_CA_CERTS: redis.certificate }, count);
    await server.ok('write_file', { ...AT, content: 'one' });
    await server.ok('edit_file', { ...AT, old_text: 'one', new_text: 'two' });
    expect(await missing(server.url)).toEqual([]);
  });

  test('is not used by a server that does not trust its certificate', async () => {
    await using server = await start({});
    await expect.poll(() => missing(server.url), { timeout: 10_000 }).toEqual(['redis (unreachable)']);
    await server.ok('write_file', { ...AT, content: 'one' });
    expect(server.stderr()).not.toContain('the-password-of-redis');
  });
});
