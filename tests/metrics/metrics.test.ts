import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Metrics } from '../../src/server/metrics/metrics.ts';
import { Scrape } from '../support/prometheus-text.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import { BusyServer, TOKENS } from './busy-server.ts';

const CALL = {
  dialect: 'workspace',
  client: { key: 'x', kind: 'process', name: 'x' },
  root: undefined,
  path: undefined,
  about: {},
  durationMs: 1,
  responseBytes: 1,
  failure: undefined,
} as const;

let busy: BusyServer;
let scrape: Scrape;

beforeAll(async () => {
  busy = await BusyServer.start();
  scrape = await busy.scrape();
});
afterAll(() => busy?.[Symbol.asyncDispose]());

describe('a server that has worked reports', () => {
  test('calls by tool, dialect and outcome', () => {
    const calls = (labels: Record<string, string>) => scrape.sum('ringfence_calls_total', labels);
    expect(calls({ tool: 'read_file', dialect: 'workspace', outcome: 'success' })).toBeGreaterThanOrEqual(3);
    expect(calls({ tool: 'read_file', dialect: 'workspace', outcome: 'error' })).toBeGreaterThanOrEqual(3);
    expect(calls({ tool: 'write_file', outcome: 'success' })).toBe(1);
    expect(calls({ tool: 'view', dialect: 'memory' })).toBe(1);
  });

  test('errors by code', () => {
    const errors = (code: string) => scrape.sum('ringfence_call_errors_total', { tool: 'read_file', code });
    expect(errors('not_found')).toBe(1);
    expect(errors('outside_root')).toBe(1);
    expect(errors('rate_limited')).toBeGreaterThan(5);
  });

  test('how long calls took, as a histogram by tool', () => {
    const labels = { tool: 'read_file', dialect: 'workspace' };
    const count = scrape.sum('ringfence_call_duration_seconds_count', labels);
    expect(count).toBe(scrape.sum('ringfence_calls_total', labels));
    expect(scrape.sum('ringfence_call_duration_seconds_bucket', { ...labels, le: '+Inf' })).toBe(count);
    expect(scrape.sum('ringfence_call_duration_seconds_sum', labels)).toBeGreaterThan(0);
  });

  test('bytes of results', () => {
    expect(scrape.sum('ringfence_response_bytes_total', { tool: 'read_file' })).toBeGreaterThan(100);
  });

  test('all tools that do not exist as one', () => {
    expect(scrape.find('ringfence_calls_total', { tool: 'unknown', outcome: 'error' })).toMatchObject([{ value: 2 }]);
    expect(JSON.stringify(scrape.samples)).not.toMatch(/no_such_tool|nor_this/);
  });

  test('violations, rate limits and refused requests', () => {
    expect(scrape.sum('ringfence_violations_total')).toBe(1);
    expect(scrape.sum('ringfence_rate_limit_refusals_total')).toBeGreaterThan(5);
    expect(scrape.sum('ringfence_http_refused_total', { reason: 'token' })).toBe(1);
    expect(scrape.sum('ringfence_http_refused_total', { reason: 'origin' })).toBe(1);
  });

  test('sessions and connections', () => {
    expect(scrape.sum('ringfence_sessions', { dialect: 'workspace' })).toBeGreaterThanOrEqual(1);
    expect(scrape.sum('ringfence_http_connections')).toBeGreaterThanOrEqual(1);
    expect(scrape.sum('ringfence_http_requests_running')).toBeGreaterThanOrEqual(1);
  });

  test('calls, searches and threads', () => {
    expect(scrape.sum('ringfence_calls_running')).toBeGreaterThanOrEqual(0);
    expect(scrape.sum('ringfence_search_threads')).toBeGreaterThanOrEqual(1);
    expect(scrape.find('ringfence_searches').map(({ labels }) => labels.state)).toEqual(['running', 'waiting']);
  });

  test('the cache of files of clients', () => {
    const figures = ['hits_total', 'misses_total', 'bytes', 'entries', 'clients'].map((name) =>
      scrape.sum(`ringfence_agent_cache_${name}`, { root: 'laptop' }),
    );
    expect(figures).toEqual([1, 1, 6, 1, expect.any(Number)]);
  });

  test('what the history of each root holds', () => {
    expect(scrape.find('ringfence_history_changes')).toMatchObject([{ labels: { root: 'workspace' }, value: 1 }]);
    expect(scrape.sum('ringfence_history_kept_bytes')).toBe('hello\n'.length);
  });

  test('the process and the program', () => {
    expect(scrape.sum('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    expect(scrape.sum('process_start_time_seconds')).toBeGreaterThan(1_000_000_000);
    expect(scrape.sum('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0);
    expect(scrape.find('ringfence_build_info')).toMatchObject([{ labels: { version: expect.any(String) }, value: 1 }]);
  });

  test('no path and no name that a client chose', () => {
    expect(JSON.stringify(scrape.samples)).not.toMatch(/a\.txt|passwd|docs\/|token-of/);
  });

  test('growing figures, on the next time', async () => {
    const before = scrape.sum('ringfence_calls_total') ?? 0;
    await busy.server.ok('stat_file', { root: 'workspace', path: 'a.txt' });
    await busy.server.waitForLog(({ tool }) => tool === 'stat_file');
    expect((await busy.scrape()).sum('ringfence_calls_total')).toBe(before + 1);
  });
});

describe('where there are tokens, /metrics', () => {
  test.each([
    ['no token', undefined, 401],
    ['a wrong token', 'a-wrong-token-0123456789', 401],
    ['the token of an agent', TOKENS.agent, 403],
    ['that of an operator', TOKENS.operator, 200],
  ])('with %s', async (_, token, status) => {
    const response = await busy.fetch('/metrics', token === undefined ? {} : { token });
    expect(response.status).toBe(status);
    expect((await response.text()).includes('ringfence_')).toBe(status === 200);
  });

  test('is in the text format, answers HEAD, and nothing below it', async () => {
    const get = await busy.fetch('/metrics?name=x', { token: TOKENS.operator });
    expect(get.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const head = await busy.fetch('/metrics', { token: TOKENS.operator, method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const post = await busy.fetch('/metrics', { token: TOKENS.operator, method: 'POST' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect((await busy.fetch('/metrics/x', { token: TOKENS.operator })).status).toBe(404);
  });

  test('is refused to a foreign page', async () => {
    const headers = { origin: 'http://example.org' };
    expect((await busy.fetch('/metrics', { token: TOKENS.operator, headers })).status).toBe(403);
  });

  test('many at once get the same answer', async () => {
    const texts = await Promise.all(
      Array.from({ length: 5 }, async () => (await busy.fetch('/metrics', { token: TOKENS.operator })).text()),
    );
    for (const text of texts) expect(text).toContain('ringfence_calls_total');
  });
});

test('without tokens, /metrics needs none; without the key, there is none', async () => {
  const roots = [{ name: 'r', path: tempDir() }];
  await using open = await startServer({ roots, config: { console: { enabled: true } } });
  expect((await fetch(new URL('/metrics', open.url))).status).toBe(200);
  await using closed = await startServer({ roots });
  expect((await fetch(new URL('/metrics', closed.url))).status).toBe(404);
});

test('one process of several names itself in every metric', async () => {
  const metrics = new Metrics(2);
  metrics.observe({ ...CALL, tool: 'read_file' });
  const { samples } = new Scrape(await metrics.registry.metrics());
  expect(samples.length).toBeGreaterThan(20);
  for (const { labels } of samples) expect(labels.worker).toBe('2');
});
