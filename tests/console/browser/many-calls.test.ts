import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { CallEvent } from '../../../src/audit/record-call.ts';
import { loadConfig } from '../../../src/config/file/load-config.ts';
import { workspace } from '../../../src/dialects/workspace/index.ts';
import { forDialect, openSharedService } from '../../../src/server/call/service.ts';
import { principalClient } from '../../../src/server/clients/peer.ts';
import { OperatorConsole } from '../../../src/server/console/operator-console.ts';
import { describeServer } from '../../../src/server/description/describe-server.ts';
import { startHttp } from '../../../src/server/http/http-server.ts';
import { TOKENS } from '../../support/console-server.ts';
import { recordFigure } from '../../support/figures.ts';
import { writeConfig } from '../../support/ringfence-process.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { hasBrowser, TestBrowser, WITHOUT_BROWSER } from './test-browser.ts';

const CALLS = 100_000;

/** A server in this process, which is told of calls that nobody made: to make them would take minutes. */
async function consoleServer() {
  const file = writeConfig({
    roots: [{ name: 'code', path: tempDir(), allowed_tools: ['*'] }],
    console: { enabled: true },
    auth: { tokens: [{ name: 'operator', token_env: 'OPERATOR', roots: ['code'], console: true }] },
  });
  const config = await loadConfig(file, { OPERATOR: TOKENS.operator });
  const console = new OperatorConsole(config);
  const shared = openSharedService({ config, logger: pino({ level: 'silent' }) });
  const service = forDialect(shared, { dialect: workspace, description: describeServer(workspace) });
  const route = console.route({ shared, version: '0', caches: () => [], peers: () => [] });
  const http = await startHttp([{ path: '/mcp', service }], { host: '127.0.0.1', port: 0, routes: [route] });
  return {
    base: http.base,
    observe: console.observer,
    [Symbol.asyncDispose]: async () => {
      await http.close(0);
      await shared.close();
    },
  };
}

const event = (index: number): CallEvent => ({
  tool: index % 3 === 0 ? 'grep' : 'read_file',
  dialect: 'workspace',
  client: principalClient('operator'),
  clientName: `agent-${index % 7}`,
  root: 'code',
  path: `src/part-${index % 100}/file-${index}.ts`,
  about: {},
  durationMs: (index % 50) / 10,
  responseBytes: index,
  failure: index % 1000 === 0 ? { code: 'outside_root' } : undefined,
});

describe.skipIf(!hasBrowser)(`a list of 100,000 calls${WITHOUT_BROWSER}`, () => {
  test('is scrolled, filtered and added to without delay, with few rows in the document', {
    timeout: 120_000,
  }, async () => {
    await using server = await consoleServer();
    const before = process.memoryUsage().heapUsed;
    for (let index = 1; index <= CALLS; index += 1) server.observe(event(index));
    recordFigure('console: heap for 100,000 calls', (process.memoryUsage().heapUsed - before) / 1e6, 'MB');
    await using browser = await TestBrowser.launch();
    const view = await browser.open(server.base);
    const { page } = view;
    await view.signIn('operator');
    await view.view('Calls');
    const began = performance.now();
    await page.getByText('100,000 calls').waitFor({ timeout: 60_000 });
    recordFigure('console: all 100,000 calls loaded', (performance.now() - began) / 1000, 's');
    const rows = () => page.getByRole('row').count();
    expect(await rows()).toBeLessThan(80);

    const frames = (await page.evaluate(SCROLL)) as { longest: number; median: number; rows: number };
    recordFigure('console: median frame while scrolling 100,000 calls', frames.median, 'ms');
    recordFigure('console: longest frame while scrolling 100,000 calls', frames.longest, 'ms');
    expect(frames.rows).toBeLessThan(80);
    await page.evaluate("document.querySelector('.grid').scrollTop = 1e9");
    await page.getByRole('row', { name: /file-1\.ts/ }).waitFor();
    expect(await rows()).toBeLessThan(80);

    await page.getByLabel('Filter by text').fill('file-77777.ts');
    const filtered = performance.now();
    await page.getByText('1 of 100,000 calls').waitFor();
    recordFigure('console: filter of 100,000 calls by text', performance.now() - filtered, 'ms');
    await page.getByRole('button', { name: 'Clear' }).click();

    for (let index = CALLS + 1; index <= CALLS + 2_000; index += 1) server.observe(event(index));
    await page.getByRole('row', { name: /file-102000\.ts/ }).waitFor();
    expect(await page.getByText('100,000 calls').count()).toBe(1);
    expect(await rows()).toBeLessThan(80);
    expect(view.complaints).toEqual([]);
  });
});

/** Scrolls through the list for a hundred frames, and says how long they took and how many rows there were at most. */
const SCROLL = `new Promise((resolve) => {
  const grid = document.querySelector('.grid');
  const times = [];
  let [last, rows] = [performance.now(), 0];
  const step = (now) => {
    times.push(now - last);
    last = now;
    rows = Math.max(rows, document.querySelectorAll('[role=row]').length);
    grid.scrollTop += grid.scrollHeight / 100;
    if (times.length < 100) requestAnimationFrame(step);
    else {
      const sorted = times.slice(1).sort((a, b) => a - b);
      resolve({ longest: sorted.at(-1), median: sorted[sorted.length >> 1], rows });
    }
  };
  requestAnimationFrame(step);
})`;
