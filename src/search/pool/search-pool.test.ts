import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import { outcome, Sandbox } from '../../../tests/support/sandbox.ts';
import { chooseBackend, type Dir, parseCallerPath } from '../../fence/index.ts';
import { StatBatch } from '../../files/list/stat-batch.ts';
import { grep } from '../grep.ts';
import { SearchPool } from './search-pool.ts';

function search(box: Sandbox, pool: SearchPool, pattern: string, path = '.') {
  const control = { signal: new AbortController().signal, progress: () => {} };
  const common = { caseInsensitive: false, contextLines: 0, maxResults: 10_000, timeoutSeconds: 60 };
  return grep(box.root, { pattern, path: parseCallerPath(path), ...common }, pool, control);
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

test('many searches at once all come to their result', async () => {
  using box = new Sandbox(chooseBackend().name);
  for (let i = 0; i < 300; i += 1) box.file(`d${i % 9}/f${i}`, `x${i}\n`);
  const pool = new SearchPool();
  const all = await Promise.all(Array.from({ length: 40 }, (_, i) => search(box, pool, `x${i}$`)));
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

test('closing cancels what is under way and refuses what comes later', async () => {
  using box = new Sandbox(chooseBackend().name);
  box.file('f', 'some text without it\n'.repeat(2_000_000));
  const pool = new SearchPool();
  const running = outcome(search(box, pool, '[x]nowhere'));
  await pool.close();
  expect(await running).toBe('cancelled');
  expect(await outcome(search(box, pool, 'x'))).toBe('cancelled');
});

test('a process lives until its search is over, and not longer though the pool is open', () => {
  using box = new Sandbox(chooseBackend().name);
  box.file('f', 'needle');
  const dist = pathToFileURL(`${import.meta.dirname}/../../../dist/`).href;
  const script = `
    const { Root, parseCallerPath } = await import('${dist}fence/index.js');
    const { grep } = await import('${dist}search/grep.js');
    const { DEFAULT_CONTEXT } = await import('${dist}runtime/operation-context.js');
    const { SearchPool } = await import('${dist}search/pool/search-pool.js');
    const options = { pattern: 'needle', path: parseCallerPath('.'), caseInsensitive: false, contextLines: 0, maxResults: 5, timeoutSeconds: 60 };
    const result = await grep(Root.open('w', process.argv[1]), options, new SearchPool(), DEFAULT_CONTEXT);
    console.log(result.totalMatches);`;
  const args = ['--input-type=module', '--eval', script, box.inside];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 20_000 });
  expect({ stdout, stderr, status }).toEqual({ stdout: '1\n', stderr: '', status: 0 });
});

/** Wants an entry looked at. */
function look({ root }: Sandbox, pool: SearchPool, dir: Dir) {
  const part = StatBatch.of(['f']);
  const thread = pool.idleFor(root.share());
  thread?.tell({ type: 'look', root: root.share(), dir: dir.share() ?? expect.fail(), part: part.shared });
  return { part, thread };
}

test('nobody is there to look at entries at first, but soon, and the same worker searches too', async () => {
  using box = new Sandbox('openat2');
  box.file('f', 'needle');
  using dir = box.root.openDir(parseCallerPath('.'));
  const pool = new SearchPool({ size: 2 });
  const workers: Worker[] = [];
  const onWorker = (worker: Worker) => void workers.push(worker);
  process.on('worker', onWorker);
  expect([look(box, pool, dir).thread, look(box, pool, dir).thread]).toEqual([undefined, undefined]);
  expect(workers).toHaveLength(0);
  const { part, thread } = await vi.waitFor(() => {
    const looking = look(box, pool, dir);
    expect(looking.thread).toBeDefined();
    return looking;
  });
  await vi.waitUntil(() => part.isFilled(0), { timeout: 10_000 });
  expect([part.type(0), part.size(0)]).toEqual(['file', 6]);
  expect(thread?.isReady).toBe(false);
  expect((await search(box, pool, 'needle')).totalMatches).toBe(1);
  expect(thread?.isReady).toBe(true);
  expect(workers).toHaveLength(1);
  process.off('worker', onWorker);
  await pool.close();
});

test('a worker that searches is not asked to look at entries', async () => {
  using box = new Sandbox('openat2');
  box.file('f', 'some text without it\n'.repeat(100_000));
  using dir = box.root.openDir(parseCallerPath('.'));
  const pool = new SearchPool({ size: 1 });
  const asked = vi.spyOn(Worker.prototype, 'ref');
  const running = search(box, pool, '[x]nowhere');
  await vi.waitUntil(() => asked.mock.calls.length > 0, { interval: 1 });
  expect(look(box, pool, dir).thread).toBeUndefined();
  asked.mockRestore();
  await running;
  expect(look(box, pool, dir).thread).toBeDefined();
  await pool.close();
});

test('no worker starts after the pool was closed', async () => {
  using box = new Sandbox('openat2');
  using dir = box.root.openDir(parseCallerPath('.'));
  const pool = new SearchPool();
  const started = vi.fn();
  process.on('worker', started);
  look(box, pool, dir);
  await pool.close();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(started).not.toHaveBeenCalled();
  process.off('worker', started);
});
