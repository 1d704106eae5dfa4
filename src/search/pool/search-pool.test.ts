import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import { chooseBackend, parseCallerPath } from '../../fence/index.ts';
import { outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { grep } from '../grep.ts';
import { SearchPool } from './search-pool.ts';

function search(box: Sandbox, pool: SearchPool, pattern: string, path = '.') {
  const context = { signal: new AbortController().signal, progress: () => {} };
  const common = { caseInsensitive: false, contextLines: 0, maxResults: 10_000, timeoutSeconds: 60 };
  return grep(box.root, { pattern, path: parseCallerPath(path), ...common }, pool, context);
}

test('the number of workers does not change the result', async () => {
  using box = new Sandbox(chooseBackend().name);
  for (let i = 0; i < 500; i += 1) box.file(`d${i % 9}/e${i % 4}/f${i}`, `x${i}\nnothing\nx`);
  const results = [];
  for (const size of [1, 2, 4]) {
    const pool = new SearchPool({ size });
    results.push(await search(box, pool, 'x'));
    await pool.close();
  }
  expect(results[0]?.totalMatches).toBe(1_000);
  expect(results[1]).toEqual(results[0]);
  expect(results[2]).toEqual(results[0]);
});

test('a short search does not wait for a long one', async () => {
  using box = new Sandbox(chooseBackend().name);
  box.file('long/f', 'some text without it\n'.repeat(2_000_000));
  box.file('short/f', 'needle');
  const pool = new SearchPool({ size: 1 });
  const order: string[] = [];
  const long = search(box, pool, '[x]nowhere', 'long').then(() => order.push('long'));
  const short = search(box, pool, 'needle', 'short').then(() => order.push('short'));
  await Promise.all([long, short]);
  await pool.close();
  expect(order).toEqual(['short', 'long']);
});

test('many concurrent searches all complete', async () => {
  using box = new Sandbox(chooseBackend().name);
  for (let i = 0; i < 300; i += 1) box.file(`d${i % 9}/f${i}`, `x${i}\n`);
  const pool = new SearchPool();
  const begun = Array.from({ length: 40 }, (_, i) => search(box, pool, `x${i}$`));
  expect(pool.usage).toMatchObject({ searches: 40, waiting: 32 });
  const all = await Promise.all(begun);
  expect(pool.usage).toEqual({ threads: expect.any(Number), searches: 0, waiting: 0 });
  expect(pool.usage.threads).toBeGreaterThan(0);
  await pool.close();
  expect(all.map((result) => result.totalMatches)).toEqual(all.map(() => 1));
});

test('a worker that crashes fails its search and is replaced', async () => {
  using box = new Sandbox(chooseBackend().name);
  box.file('f', 'some text without it\n'.repeat(2_000_000));
  box.file('g', 'needle');
  const started: Worker[] = [];
  const ref = vi.spyOn(Worker.prototype, 'ref').mockImplementation(function (this: Worker) {
    if (!started.includes(this)) started.push(this);
  });
  const pool = new SearchPool({ size: 1 });
  const failing = outcome(search(box, pool, '[x]nowhere'));
  await vi.waitUntil(() => started.length > 0);
  await started[0]?.terminate();
  expect(await failing).toBe('internal');
  ref.mockRestore();
  expect((await search(box, pool, 'needle')).totalMatches).toBe(1);
  await pool.close();
});

test('a thread that hangs is replaced, and the searches that wait for it go on', () => {
  using box = new Sandbox(chooseBackend().name);
  box.file('hangs/forever', 'needle');
  box.file('other/f', 'needle');
  // As a disk that does not answer would do, which nothing but a lost mount offers.
  const hang = `
    import fs from 'node:fs';
    const { openSync } = fs;
    fs.openSync = (file, ...args) => {
      if (String(file).endsWith('/forever')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      return openSync(file, ...args);
    };`;
  const hangInWorkers = `
    import threads, { Worker } from 'node:worker_threads';
    import { syncBuiltinESMExports } from 'node:module';
    const execArgv = ['--import', 'data:text/javascript,' + encodeURIComponent(${JSON.stringify(hang)})];
    threads.Worker = class extends Worker {
      constructor(entry, options) {
        super(entry, { ...options, execArgv });
      }
    };
    syncBuiltinESMExports();`;
  const search = `
    const pool = new SearchPool({ size: 1 });
    await find('other', 60, pool);
    const hung = await find('hangs', 1, pool);
    const waiting = await Promise.all([find('other', 60, pool), find('other', 60, pool)]);
    console.log(JSON.stringify([hung, ...waiting].map(({ totalMatches, timedOut }) => [totalMatches, timedOut])));`;
  const ended = runScript(box, { before: hangInWorkers, script: search, fence: 'procfd' });
  expect(ended).toEqual({ stdout: '[[0,true],[1,false],[1,false]]\n', stderr: '', status: 0 });
});

const cannotSetLimits = spawnSync('prlimit', ['--version']).status !== 0;

test.skipIf(cannotSetLimits)('a thread that cannot start for want of descriptors says so, and later ones start', () => {
  using box = new Sandbox(chooseBackend().name);
  box.file('f', 'needle');
  const search = `
    const { spawnSync } = await import('node:child_process');
    const fs = await import('node:fs');
    spawnSync('prlimit', ['--pid', String(process.pid), '--nofile=64:']);
    const taken = [];
    try {
      for (;;) taken.push(fs.openSync('/dev/null'));
    } catch {}
    // Enough for this thread, not for the event loop of another.
    for (let i = 0; i < 3; i += 1) fs.closeSync(taken.pop());
    const pool = new SearchPool({ size: 1 });
    const failed = await find('.', 60, pool).catch(({ code }) => code);
    for (const fd of taken) fs.closeSync(fd);
    console.log(failed, (await find('.', 60, pool)).totalMatches);`;
  expect(runScript(box, { script: search })).toEqual({ stdout: 'exhausted 1\n', stderr: '', status: 0 });
});

test('closing cancels searches in progress and rejects later ones', async () => {
  using box = new Sandbox(chooseBackend().name);
  box.file('f', 'some text without it\n'.repeat(2_000_000));
  const pool = new SearchPool();
  const running = outcome(search(box, pool, '[x]nowhere'));
  await pool.close();
  expect(await running).toBe('cancelled');
  expect(await outcome(search(box, pool, 'x'))).toBe('cancelled');
});

test('a pending search keeps the process alive, an open pool does not', () => {
  using box = new Sandbox(chooseBackend().name);
  box.file('f', 'needle');
  const ended = runScript(box, { script: "console.log((await find('.', 60, new SearchPool())).totalMatches);" });
  expect(ended).toEqual({ stdout: '1\n', stderr: '', status: 0 });
});

/** Runs a script in a process of its own, with `find`, which searches a folder of the sandbox for `needle`. */
function runScript(box: Sandbox, { before = '', script = '', fence = '' }) {
  const dist = pathToFileURL(`${import.meta.dirname}/../../../dist/`).href;
  const prelude = `
    const { Root, parseCallerPath, chooseBackend } = await import('${dist}fence/index.js');
    const { grep } = await import('${dist}search/grep.js');
    const { DEFAULT_CONTEXT } = await import('${dist}runtime/operation-context.js');
    const { SearchPool } = await import('${dist}search/pool/search-pool.js');
    const root = Root.open('w', process.argv[1], chooseBackend('${fence}' || undefined));
    const options = { pattern: 'needle', caseInsensitive: false, contextLines: 0, maxResults: 5 };
    const find = (folder, timeoutSeconds, pool) =>
      grep(root, { ...options, path: parseCallerPath(folder), timeoutSeconds }, pool, DEFAULT_CONTEXT);`;
  const args = ['--input-type=module', '--eval', before + prelude + script, box.inside];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 25_000 });
  return { stdout, stderr, status };
}
