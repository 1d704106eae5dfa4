import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TRANSPORTS } from '../support/connections.ts';
import { processorTime } from '../support/processor-time.ts';
import { layBombs, REGEX_BOMBS, RULE_FOLDERS, slowPattern } from '../support/search-bombs.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';

const ALICE = 'alice-token-of-32-characters-abcd';
const BOB = 'bob-token-of-32-characters-abcdef';
const base = tempDir();
const roots = [{ name: 'workspace', path: base }];

beforeAll(() => layBombs(base));
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

/** A deadline of one second, and what a busy machine may add to it. */
const TIMEOUT = 1;
const LATEST_MS = 4_000;

/** Runs a call and checks that it ends in time, whatever its result is. */
async function inTime(server: TestServer, tool: string, args: Readonly<Record<string, unknown>>) {
  const started = performance.now();
  const result = await server.call(tool, { root: 'workspace', ...args, timeout_seconds: TIMEOUT });
  expect(performance.now() - started).toBeLessThan(LATEST_MS);
  if (result.isError) expect(result.text).toMatch(/invalid|too large/i);
  expect(result.text).not.toMatch(/internal/i);
  return result;
}

describe.each(TRANSPORTS)('searches end in time: $transport', (connection) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ roots, ...connection });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  // Both transports run the same searches, so that the second need not repeat all of them.
  const bombs = Object.entries(REGEX_BOMBS).filter((_, i) => connection.transport === 'stdio' || i % 6 === 0);

  test.each(bombs)('grep for %s', async (_what, pattern) => {
    await inTime(server, 'grep', { pattern, path: 'bombs' });
  });

  test('a pattern that is too large is refused with the reason', async () => {
    const pattern = REGEX_BOMBS['1,000 alternatives of .{990}'];
    expect(await server.fails('grep', { root: 'workspace', pattern })).toContain('pattern too large');
    expect(await server.fails('glob', { root: 'workspace', regex: pattern })).toContain('pattern too large');
  });

  test('glob by slow regular expressions', async () => {
    await inTime(server, 'glob', { regex: slowPattern(), include_ignored: true });
  });

  test.each(connection.transport === 'stdio' ? RULE_FOLDERS : [])('ignore rules: %s', async (path) => {
    await inTime(server, 'grep', { pattern: 'needle', path });
    await inTime(server, 'glob', { pattern: '**', path });
  });

  test('a cancelled search stops its threads', async () => {
    const controller = new AbortController();
    const call = server.call(
      'grep',
      { root: 'workspace', pattern: slowPattern(), path: 'bombs' },
      { signal: controller.signal },
    );
    await delay(300);
    controller.abort();
    await expect(call).rejects.toThrow();
    await server.waitForLog(({ tool, code }) => tool === 'grep' && code === 'cancelled');
    // The search would take minutes. On a busy machine its threads notice a little later that it was cancelled.
    const used = async (): Promise<number> => {
      const before = processorTime(server.pid);
      await delay(500);
      return processorTime(server.pid) - before;
    };
    await expect.poll(used, { timeout: 10_000 }).toBeLessThan(0.25);
  });
});

test('a search of the classic dialect refuses what is too large, and ends with the request', async () => {
  const config = { dialects: { classic: { root: 'workspace' } }, request_timeout: TIMEOUT };
  await using server = await startServer({ dialect: 'classic', transport: 'http', roots, config });
  const search = async (args: Readonly<Record<string, unknown>>): Promise<string> => {
    const started = performance.now();
    const { isError, text } = await server.call('search', { root_path: 'bombs', ...args });
    expect(performance.now() - started).toBeLessThan(LATEST_MS);
    expect(text).not.toMatch(/internal/i);
    return isError ? text : '';
  };
  expect(await search({ pattern: '+('.repeat(20_000), regex: true })).toContain('pattern is not valid');
  expect(await search({ pattern: slowPattern(0, 1_000), regex: true })).toContain('too large');
  expect(await search({ pattern: slowPattern(), regex: true })).toMatch(/time/i);
  expect(await search({ pattern: REGEX_BOMBS['a long literal'] })).toMatch(/time/i);
});

test('a small search of one client does not wait for large ones of another', async () => {
  const tokens = Object.entries({ alice: ALICE, bob: BOB }).map(([name]) => ({
    ...{ name, token_env: `${name.toUpperCase()}_TOKEN`, roots: ['workspace'] },
  }));
  const env = { ALICE_TOKEN: ALICE, BOB_TOKEN: BOB };
  await using server = await startServer({ transport: 'http', roots, config: { auth: { tokens } }, env, token: ALICE });
  await using bob = await server.connect({ token: BOB });
  const small = async (): Promise<number> => {
    const started = performance.now();
    const { total_matches } = await bob.ok('grep', {
      root: 'workspace',
      pattern: 'needl[e]',
      path: 'small',
      max_results: 1_000,
    });
    expect(total_matches).toBe(200);
    return performance.now() - started;
  };
  await small();
  const large = Array.from({ length: 50 }, (_, i) =>
    server.call('grep', { root: 'workspace', pattern: slowPattern(i), path: 'bombs', timeout_seconds: 3 }),
  );
  await delay(200);
  const times: number[] = [];
  for (let i = 0; i < 10; i += 1) times.push(await small());
  times.sort((one, other) => one - other);
  // Round by round, the small search gets as much time as all large ones together.
  expect(times[5]).toBeLessThan(1_000);
  await Promise.all(large);
});
