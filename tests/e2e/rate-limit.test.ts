import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { CONNECTIONS } from '../support/connections.ts';
import type { DialectName } from '../support/dialect-contracts.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const dir = tempDir();
fs.writeFileSync(path.join(dir, 'a.txt'), 'hello\n');
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }));

const roots = [{ name: 'r', path: dir }];
/** One token in twenty seconds: a slow machine does not get a second one. */
const rate_limit = { calls_per_second: 0.05, burst: 6 };
const dialects = { workspace: {}, memory: { root: 'r' }, classic: { root: 'r' }, guide: { project: dir } };

/** A call that succeeds in each dialect, and what it says when it is one too many. */
const CALLS: { readonly [D in DialectName]: readonly [tool: string, args: object, error: RegExp] } = {
  workspace: ['read_file', { root: 'r', path: 'a.txt' }, /^rate limit exceeded: retry in (1\d|20)(\.\d)? seconds/],
  memory: [
    'view',
    { path: 'a.txt' },
    /"code":"internal_error","message":"Rate limit exceeded, retry in [\d.]+ seconds"/,
  ],
  classic: [
    'info',
    { path: 'a.txt' },
    /"code":"rate_limited","message":"Rate limit exceeded; retry in [\d.]+ seconds"/,
  ],
  guide: ['guide_cache_file', { path: 'docs/a', content: 'a' }, /"instruction":"Call again in [\d.]+ seconds\."/],
};

/** Calls until a call is one too many. */
async function useUp(call: () => Promise<{ readonly isError: boolean }>): Promise<void> {
  for (let count = 0; count < 50; count += 1) if ((await call()).isError) return;
  throw new Error('no call was one too many');
}

describe.each(Object.keys(CALLS) as DialectName[])('%s', (dialect) => {
  test('a call too many is an error of the dialect that says when to retry', async () => {
    const [tool, args, error] = CALLS[dialect];
    await using rf = await startServer({ dialect, roots, config: { rate_limit, dialects } });
    const results = [];
    for (let count = 0; count < 8; count += 1) results.push(await rf.call(tool, { ...args }));
    const failures = results.filter(({ isError }) => isError);
    expect(failures.length).toBeGreaterThanOrEqual(2);
    for (const { text } of failures) expect(text).toMatch(error);
    expect(results.slice(0, 3).map(({ isError }) => isError)).toEqual([false, false, false]);
    expect(await rf.waitForLog(({ outcome, code }) => outcome === 'error' && code === 'rate_limited')).toBeDefined();
  });
});

describe.each(CONNECTIONS)('$transport, $era', (connection) => {
  test('calls and other requests count; a request too many is an error that says when to retry', async () => {
    await using rf = await startServer({ ...connection, roots, config: { rate_limit } });
    const read = () => rf.call('read_file', { root: 'r', path: 'a.txt' });
    await useUp(read);
    await expect(rf.client.listTools()).rejects.toThrow(/rate limit exceeded: retry in [\d.]+ seconds/);
    expect((await read()).text).toMatch(/rate limit exceeded/);
    if (connection.era === 'legacy') await rf.client.ping();
  });

  test('whoever waits is served again', async () => {
    const config = { rate_limit: { calls_per_second: 20, burst: 3 } };
    await using rf = await startServer({ ...connection, roots, config });
    const read = () => rf.call('read_file', { root: 'r', path: 'a.txt' });
    const results = await Promise.all(Array.from({ length: 30 }, read));
    expect(results.some(({ isError }) => isError)).toBe(true);
    await delay(300);
    expect((await read()).isError).toBe(false);
  });
});

test('each token has a limit of its own; over HTTP a request too many gets 429', async () => {
  const tokens = ['one', 'two'].map((name) => ({
    name,
    sha256: createHash('sha256').update(`${name}-0123456789abcdef`).digest('hex'),
    roots: ['r'],
  }));
  const config = { rate_limit, auth: { tokens } };
  await using rf = await startServer({ roots, config, token: 'one-0123456789abcdef' });
  await using other = await rf.connect({ token: 'two-0123456789abcdef' });
  const read = (client: Pick<typeof rf, 'call'>) => client.call('read_file', { root: 'r', path: 'a.txt' });
  await useUp(() => read(rf));
  expect((await read(other)).isError).toBe(false);
  const refused = await fetch(rf.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: 'Bearer one-0123456789abcdef',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'me', method: 'resources/list' }),
  });
  expect([refused.status, Number(refused.headers.get('retry-after')) > 1]).toEqual([429, true]);
  expect(await refused.json()).toMatchObject({ id: 'me', error: { message: expect.stringMatching(/retry in/) } });
});
