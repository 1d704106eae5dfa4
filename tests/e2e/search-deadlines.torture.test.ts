import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordFigure } from '../support/figures.ts';
import { layBombs, REGEX_BOMBS, RULE_FOLDERS, slowPattern } from '../support/search-bombs.ts';
import { startServer } from '../support/start-server.ts';
import { tempDir } from '../support/temp-dir.ts';
import type { ToolClient } from '../support/tool-client.ts';

const ALICE = 'alice-token-of-32-characters-abcd';
const BOB = 'bob-token-of-32-characters-abcdef';
const base = tempDir();
const roots = [{ name: 'workspace', path: base }];
const tokens = ['alice', 'bob'].map((name) => ({
  ...{ name, token_env: `${name.toUpperCase()}_TOKEN`, roots: ['workspace'] },
}));
const options = {
  ...({ transport: 'http', roots, config: { auth: { tokens } }, token: ALICE } as const),
  env: { ALICE_TOKEN: ALICE, BOB_TOKEN: BOB },
};

beforeAll(() => layBombs(base));
afterAll(() => fs.rmSync(base, { recursive: true, force: true }));

const TIMEOUT = 2;
const SMALL = { root: 'workspace', pattern: 'needl[e]', path: 'small', max_results: 1_000 };

async function timed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function recordTimes(name: string, times: readonly number[]): void {
  recordFigure(`${name}: median`, quantile(times, 0.5), 'ms');
  recordFigure(`${name}: 99th percentile`, quantile(times, 0.99), 'ms');
}

test('no pattern, path or rule makes a search miss its deadline', async () => {
  await using server = await startServer(options);
  const calls: [what: string, tool: string, args: object][] = [
    ...Object.entries(REGEX_BOMBS).flatMap(([what, pattern]): [string, string, object][] => [
      [`grep: ${what}`, 'grep', { pattern, path: 'bombs' }],
      [`grep, any case: ${what}`, 'grep', { pattern, path: 'bombs', case_insensitive: true }],
      [`glob: ${what}`, 'glob', { regex: pattern, include_ignored: true }],
    ]),
    ...RULE_FOLDERS.map((path): [string, string, object] => [path, 'grep', { pattern: 'needle', path }]),
  ];
  const late: [string, number][] = [];
  for (const [what, tool, args] of calls) {
    const run = () => server.call(tool, { root: 'workspace', ...args, timeout_seconds: TIMEOUT });
    late.push([what, (await timed(run)) - TIMEOUT * 1_000]);
  }
  late.sort(([, one], [, other]) => other - one);
  const [[what, most] = ['', 0]] = late;
  recordFigure(`search deadline missed by, at most (${what})`, Math.max(0, most), 'ms');
  recordFigure('searches with hostile patterns or rules', late.length, 'searches');
  expect(most).toBeLessThan(500);
});

test('a small search beside 50 large ones of another client', async () => {
  await using server = await startServer(options);
  await using bob = await server.connect({ token: BOB });
  const small = (client: ToolClient) => timed(() => client.ok('grep', SMALL));
  for (let i = 0; i < 20; i += 1) await small(bob);
  const alone: number[] = [];
  for (let i = 0; i < 200; i += 1) alone.push(await small(bob));
  const patterns = { 'that are slow': (i: number) => slowPattern(i), 'with 9,000 words': (i: number) => words(i) };
  recordTimes('small grep alone', alone);
  for (const [what, pattern] of Object.entries(patterns)) {
    const large = Array.from({ length: 50 }, (_, i) =>
      server.call('grep', { root: 'workspace', pattern: pattern(i), path: 'bombs', timeout_seconds: 20 }),
    );
    let isOver = false;
    const all = Promise.all(large).then(() => {
      isOver = true;
    });
    await delay(200);
    const beside: number[] = [];
    while (!isOver && beside.length < 500) beside.push(await small(bob));
    recordTimes(`small grep beside 50 ${what}`, beside);
    expect(quantile(beside, 0.99)).toBeLessThan(1_000);
    await all;
  }
});

function words(number: number): string {
  return `${Array.from({ length: 9_000 }, (_, i) => `w${i}`).join('|')}|${number}`;
}

test('a cancelled search ends at once, whatever it is doing', async () => {
  await using server = await startServer(options);
  const cancelled = () => server.logs().filter(({ code }) => code === 'cancelled').length;
  const times: number[] = [];
  for (let i = 0; i < 60; i += 1) {
    const controller = new AbortController();
    const args = { root: 'workspace', pattern: slowPattern(i), path: 'bombs' };
    const call = server.call('grep', args, { signal: controller.signal }).catch(() => {});
    // From while the pattern is compiled to long after.
    await delay(20 + ((i * 7) % 100));
    const before = cancelled();
    const aborted = performance.now();
    controller.abort();
    await call;
    while (cancelled() === before && performance.now() - aborted < 10_000) await delay(1);
    times.push(performance.now() - aborted);
  }
  recordTimes('search ends after it is cancelled', times);
  expect(quantile(times, 0.95)).toBeLessThan(300);
});
