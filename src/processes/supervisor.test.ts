import { ChildProcess } from 'node:child_process';
import { setTimeout as later } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type TestStart, workerModule } from './supervisor.fixture.ts';
import { Supervisor } from './supervisor.ts';

const entry = workerModule();
let supervisor: Supervisor<TestStart>;
let crashes: number[];
let lines: string[];

function newSupervisor(startMs?: number): Supervisor<TestStart> {
  return new Supervisor<TestStart>({
    entry,
    count: 3,
    ...(startMs !== undefined && { startMs }),
    onCrash: ({ worker }) => crashes.push(worker),
    onLine: (line) => lines.push(line),
    onFree: () => {},
    onReturned: () => {},
    onNew: () => {},
  });
}

beforeEach(async () => {
  crashes = [];
  lines = [];
  supervisor = newSupervisor();
  expect(supervisor.workers.size).toBe(0);
  expect(await supervisor.start({ config: 'old' })).toBeUndefined();
});
afterEach(() => supervisor.stop(5_000));

/** What the workers serve that take connections, in the order of their numbers. */
const served = (): unknown[] =>
  [...supervisor.workers].filter(({ isServing }) => isServing).map(({ number, report }) => `${number} ${report}`);

test('a roll replaces all workers', async () => {
  expect(await supervisor.roll({ config: 'new' })).toBe('replaced');
  expect(served()).toEqual(['4 new', '5 new', '6 new']);
});

test('a roll whose first worker does not start changes nothing', async () => {
  const end = await supervisor.roll({ config: 'new', refusing: [4] });
  expect(end).toEqual({ message: 'refused', replaced: 0 });
  expect(served()).toEqual(['1 old', '2 old', '3 old']);
});

test('a roll whose later workers do not start keeps the former ones, and says so', async () => {
  const end = await supervisor.roll({ config: 'new', refusing: [5, 6, 7, 8, 9, 10] });
  expect(end).toEqual({ message: 'refused', replaced: 1 });
  expect(served()).toEqual(['2 old', '3 old', '4 new']);
  expect(await supervisor.roll({ config: 'newer' })).toBe('replaced');
  expect(served().map((text) => `${text}`.split(' ')[1])).toEqual(['newer', 'newer', 'newer']);
});

test('a worker that ends without a reason in a roll is tried again, and then the roll goes on', async () => {
  expect(await supervisor.roll({ config: 'new', failing: [5, 7] })).toBe('replaced');
  expect(served()).toEqual(['4 new', '6 new', '8 new']);
});

test('a roll whose workers end again and again keeps the former ones', async () => {
  const end = await supervisor.roll({ config: 'new', failing: [5, 6, 7, 8, 9, 10, 11, 12] });
  expect(end).toEqual({ message: 'it ended with code 3', replaced: 1 });
  expect(served()).toEqual(['2 old', '3 old', '4 new']);
  await later(500);
  expect(supervisor.workers.size).toBe(3);
});

test('a worker that dies while the one that takes its place does not start is replaced', async () => {
  const rolled = supervisor.roll({ config: 'new', startMs: 1_500, refusing: [4] });
  const [first] = supervisor.workers;
  first?.kill('SIGKILL');
  expect(await rolled).toEqual({ message: 'refused', replaced: 0 });
  await expect.poll(served, { timeout: 10_000 }).toEqual(['2 old', '3 old', '5 old']);
  expect(crashes).toEqual([1]);
});

test('a roll during which all are stopped ends without a problem', async () => {
  const rolled = supervisor.roll({ config: 'new', startMs: 1_000 });
  await later(200);
  await supervisor.stop(5_000);
  expect(await rolled).toBe('stopped');
  expect(await supervisor.roll({ config: 'newer' })).toBe('stopped');
  expect(supervisor.workers.size).toBe(0);
});

describe('a worker with SIGTERM', () => {
  test('leaves when another one serves in its place', async () => {
    const [first] = supervisor.workers;
    first?.kill('SIGTERM');
    first?.kill('SIGTERM');
    let fewest = 3;
    const isReplaced = (): boolean => {
      fewest = Math.min(fewest, served().length);
      return supervisor.workers.size === 3 && !supervisor.workers.has(first as never);
    };
    await expect.poll(isReplaced, { interval: 5 }).toBe(true);
    expect(served()).toEqual(['2 old', '3 old', '4 old']);
    expect(fewest).toBe(3);
    expect(crashes).toEqual([]);
  });

  test('is replaced once, also if all are being replaced', async () => {
    const rolled = supervisor.roll({ config: 'new', startMs: 500 });
    for (const worker of supervisor.workers) worker.kill('SIGTERM');
    expect(await rolled).toBe('replaced');
    await later(500);
    expect(served()).toHaveLength(3);
  });

  test('stays until the end if all are to end', async () => {
    for (const worker of supervisor.workers) worker.kill('SIGTERM');
    await later(50);
    supervisor.drain();
    await later(1_000);
    expect(served()).toEqual(['1 old', '2 old', '3 old']);
    await supervisor.stop(5_000);
    expect(crashes).toEqual([]);
  });
});

test('a worker that dies while all are about to end is replaced by one that says so, too', async () => {
  supervisor.drain();
  await expect.poll(() => lines.length).toBe(3);
  const [first] = supervisor.workers;
  first?.kill('SIGKILL');
  await expect.poll(served).toEqual(['2 old', '3 old', '4 old']);
  await expect.poll(() => lines.at(-1)).toBe('draining 4');
});

test('a worker that SIGKILL does not end is waited for no longer than half a second', async () => {
  await supervisor.roll({ config: 'new', staying: [5] });
  const kill = vi.spyOn(ChildProcess.prototype, 'kill').mockReturnValue(true);
  const worker = [...supervisor.workers].find(({ number }) => number === 5);
  const since = performance.now();
  await supervisor.stop(200);
  expect(performance.now() - since).toBeLessThan(1_500);
  expect(kill).toHaveBeenCalledOnce();
  kill.mockRestore();
  expect([...supervisor.workers]).toEqual([worker]);
  worker?.kill('SIGKILL');
  await worker?.ended;
});

describe('a worker that hangs at its start', () => {
  const START_MS = 3_000;
  const late = 'because it did not start within 3 s';

  beforeEach(async () => {
    await supervisor.stop(5_000);
    supervisor = newSupervisor(START_MS);
  });

  test('is replaced, and the start goes on', async () => {
    expect(await supervisor.start({ config: 'new', hanging: [2] })).toBeUndefined();
    expect(served()).toEqual(['1 new', '3 new', '4 new']);
    expect(crashes).toEqual([2]);
    await expect.poll(() => supervisor.workers.size).toBe(3);
  });

  test('and that SIGKILL does not end either is left aside', async () => {
    const kill = vi.spyOn(ChildProcess.prototype, 'kill').mockReturnValueOnce(true);
    expect(await supervisor.start({ config: 'new', hanging: [1] })).toBeUndefined();
    expect(kill).toHaveBeenCalledOnce();
    kill.mockRestore();
    expect([...supervisor.workers].map(({ report }) => report)).toEqual([undefined, 'new', 'new', 'new']);
    expect(supervisor.report).toBe('new');
  });

  test('is a failure: after too many of them nobody tries any more', async () => {
    const hanging = Array.from({ length: 20 }, (_, i) => i + 1);
    expect(await supervisor.start({ config: 'new', hanging })).toMatchObject({
      message: expect.stringContaining(late),
    });
    expect(crashes).toEqual([1, 2, 3, 4]);
  });

  test('in place of one that died is killed, and another one is tried', async () => {
    expect(await supervisor.start({ config: 'new', hanging: [4] })).toBeUndefined();
    const [first] = supervisor.workers;
    first?.kill('SIGKILL');
    await expect.poll(served, { timeout: 15_000 }).toEqual(['2 new', '3 new', '5 new']);
    expect(crashes).toEqual([1, 4]);
  });

  test('in a roll is tried again', async () => {
    expect(await supervisor.start({ config: 'old' })).toBeUndefined();
    expect(await supervisor.roll({ config: 'new', hanging: [5] })).toBe('replaced');
    expect(served()).toEqual(['4 new', '6 new', '7 new']);
  });
});
