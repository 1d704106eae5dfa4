import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { cannotDropPrivileges, runChild } from '../../../tests/support/child.ts';
import { memory, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { removeFile } from '../../files/remove/remove-entry.ts';
import { removeFolder, removeTree } from '../../files/remove/remove-folder.ts';
import { writeFile } from '../../files/write/write-file.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { addCheckpoint } from '../checkpoints.ts';
import { History } from '../history.ts';
import { pastSteps } from '../log/past-steps.ts';
import type { HistoryOptions } from '../store.ts';
import { type EnforceOptions, enforceLimits } from './enforce-limits.ts';
import { historyStatistics } from './statistics.ts';

const HOUR_MS = 3_600_000;
const LIMITS: HistoryOptions = { keepMs: 16 * HOUR_MS, maxBytes: 16_000, over: 'allow' };
const QUICK = { durable: false };

const ENFORCE: EnforceOptions = {
  pause: () => undefined,
  removeTree: async (entry) => void (await removeTree(entry, { unlock: true }, DEFAULT_CONTEXT)),
  quietMs: 0,
};

class Kept implements Disposable {
  readonly box: Sandbox;
  readonly history: History;

  constructor(limits: Partial<HistoryOptions> = {}, under?: string) {
    this.box = new Sandbox('openat2', under);
    this.history = History.open(this.box.root, { ...LIMITS, ...limits });
  }

  write(name: string, size: number): Promise<unknown> {
    const { root } = this.box;
    return writeFile(root, root.parse(name), Buffer.alloc(size, name), QUICK);
  }

  /** Writes a file some times, so that all but the last content is kept. */
  async rewrite(name: string, sizes: readonly number[]): Promise<void> {
    for (const size of sizes) await this.write(name, size);
  }

  enforce(more: Partial<EnforceOptions> = {}) {
    return enforceLimits(this.history, { ...ENFORCE, ...more });
  }

  /** The sizes that the files still had before the steps that are known, oldest first. */
  known(): number[] {
    return [...pastSteps(this.history)].reverse().flatMap(({ step }) => step.before?.size ?? []);
  }

  keptBytes(): number {
    const kept = this.box.host('.ringfence/kept');
    const files = fs.readdirSync(kept, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return files.reduce((sum, { parentPath, name }) => sum + fs.statSync(path.join(parentPath, name)).size, 0);
  }

  [Symbol.dispose](): void {
    this.history[Symbol.dispose]();
    this.box[Symbol.dispose]();
  }
}

describe('max_bytes', () => {
  test('removes the oldest history, and no more than is needed', async () => {
    using kept = new Kept();
    await kept.rewrite('f', Array(31).fill(800));
    expect(await kept.enforce()).toMatchObject([{ limit: 'max_bytes' }, {}, {}, {}, {}, {}, {}, {}, {}, {}]);
    expect(kept.keptBytes()).toBe(16_000);
    expect(kept.known()).toHaveLength(20);
    // Nothing more is to be done.
    expect(await kept.enforce()).toEqual([]);
    expect(kept.known()).toHaveLength(20);
    await kept.write('f', 1);
    expect(await kept.enforce()).toMatchObject([{ bytes: 800, files: 1, changes: 1 }]);
  });

  test('a file larger than that is not kept, or refused, and that is said', async () => {
    using kept = new Kept({ maxBytes: 100 });
    const notices: unknown[] = [];
    kept.history.onNotice = (notice) => notices.push(notice);
    const caller = { tool: 'test' };
    const { root } = kept.box;
    await kept.write('f', 101);
    await kept.write('g', 101);
    await writeFile(root, root.parse('f'), Buffer.from('new'), QUICK, { ...DEFAULT_CONTEXT, caller });
    await removeFile(root, root.parse('g'), QUICK, { ...DEFAULT_CONTEXT, caller });
    expect(kept.history.changeOf(caller).unkept).toBe(2);
    expect(notices).toEqual([
      { kind: 'unkept', path: 'f', bytes: 101 },
      { kind: 'unkept', path: 'g', bytes: 101 },
    ]);
    const steps = [...pastSteps(kept.history)].slice(0, 2).map(({ step }) => step);
    expect(steps).toMatchObject([{ unkept: 'too_large' }, { unkept: 'too_large' }]);
    expect(steps.some((step) => 'kept' in step)).toBe(false);
    expect(kept.keptBytes()).toBe(0);
    expect(kept.box.text('f')).toBe('new');

    using strict = new Kept({ maxBytes: 100, over: 'refuse' });
    await strict.write('f', 101);
    expect(await outcome(strict.write('f', 1))).toBe('too_large_to_keep');
    expect(await outcome(removeFile(strict.box.root, strict.box.root.parse('f'), QUICK))).toBe('too_large_to_keep');
    expect(strict.box.text('f')).toHaveLength(101);
    await strict.write('g', 100);
    expect(await outcome(strict.write('g', 1))).toBe('ok');
  });

  test('counts what a removed folder holds, once, and notes it in the log', async () => {
    using kept = new Kept();
    const { box, history } = kept;
    for (let at = 0; at < 20; at += 1) box.file(`d/sub-${at % 3}/f${at}`, Buffer.alloc(500));
    await removeFolder(box.root, box.root.parse('d'), QUICK);
    let pauses = 0;
    const pause = () => {
      pauses += 1;
      return undefined;
    };
    expect(await kept.enforce({ pause })).toEqual([]);
    expect(pauses).toBeGreaterThan(23);
    expect(await historyStatistics(history)).toMatchObject({ keptBytes: 10_000, keptFiles: 20, steps: 1, changes: 1 });
    expect([...pastSteps(history)][0]?.counted).toMatchObject({ bytes: 10_000, files: 20 });
    // It has had its share of the limit, so the next step is in another part.
    await kept.rewrite('f', [7000, 1]);
    expect(kept.known().slice(1)).toEqual([7000]);
    expect(history.log.segments()).toHaveLength(2);
  });

  test('a removed tree that is too large goes whole, with read-only folders in it, in slices', async () => {
    using kept = new Kept({ maxBytes: 5000 });
    const { box } = kept;
    for (let at = 0; at < 300; at += 1) box.file(`d/sub-${at % 3}/deep/f${at}`, Buffer.alloc(500));
    box.folder('d/sub-1/deep', 0o500);
    await removeFolder(box.root, box.root.parse('d'), QUICK);
    await kept.write('f', 1);
    expect(await kept.enforce()).toMatchObject([{ limit: 'max_bytes', bytes: 150_000, files: 300 }]);
    expect(fs.readdirSync(box.host('.ringfence/kept'))).toEqual([]);
  });
});

describe('keep', () => {
  test('removes what is older, also if nothing is changed any more', async () => {
    using kept = new Kept();
    vi.useFakeTimers({ now: Date.now() - 40 * HOUR_MS, toFake: ['Date'] });
    try {
      await kept.rewrite('f', [1, 2]);
      vi.setSystemTime(Date.now() + 24.5 * HOUR_MS);
      await kept.rewrite('g', [3, 4]);
      vi.setSystemTime(Date.now() + 2 * HOUR_MS);
      expect(await kept.enforce()).toMatchObject([{ limit: 'keep', changes: 2, bytes: 1 }]);
      expect(kept.known()).toEqual([3]);
      vi.setSystemTime(Date.now() + 15 * HOUR_MS);
      expect(await kept.enforce()).toMatchObject([{ limit: 'keep', changes: 2, bytes: 3 }]);
      expect(kept.known()).toEqual([]);
      expect(await historyStatistics(kept.history)).toMatchObject({ changes: 0, keptBytes: 0, isCut: true });
      await kept.write('g', 5);
      expect(kept.known()).toEqual([4]);
    } finally {
      vi.useRealTimers();
    }
  });
});

test('says if something is removed that was changed since the newest checkpoint', async () => {
  using kept = new Kept();
  await kept.rewrite('f', Array(11).fill(900));
  await addCheckpoint(kept.history, 'before');
  await kept.rewrite('f', Array(10).fill(900));
  const first = await kept.enforce();
  expect(first.map(({ checkpoint }) => checkpoint)).toEqual(Array(first.length).fill(undefined));
  expect(first).toHaveLength(3);
  await kept.rewrite('f', Array(10).fill(900));
  const second = await kept.enforce();
  expect(second.map(({ checkpoint }) => checkpoint)).toEqual([...Array(7).fill(undefined), ...Array(3).fill('before')]);
});

describe('other processes', () => {
  test('a segment that was written to just now, or has a step under way, stays', async () => {
    using kept = new Kept({ maxBytes: 1000 });
    await kept.write('f', 900);
    await kept.write('f', 901);
    const { history } = kept;
    const step = history.changeOf({ tool: 'slow' }).begin({ kind: 'make', path: 'slow' });
    await kept.write('f', 902);
    await kept.write('f', 903);
    expect(await kept.enforce({ quietMs: 10_000 })).toEqual([]);
    expect(await kept.enforce()).toMatchObject([{ bytes: 900 }]);
    expect(await kept.enforce()).toEqual([]);
    step.cancel();
    expect(await kept.enforce()).toMatchObject([{ bytes: 901 }]);
    expect(kept.known()).toEqual([902]);
  });

  test('two that enforce the limits at once remove the same once, while a third reads and writes', async () => {
    using kept = new Kept({ maxBytes: 4000 }, memory());
    const script = `
      const { History, pastSteps } = await from('history/index.js');
      const { enforceLimits } = await from('history/limits/enforce-limits.js');
      const { removeTree } = await from('files/remove/remove-folder.js');
      const history = History.open(root, { keepMs: 1e9, maxBytes: 4000, over: 'allow' });
      const pause = () => new Promise(setImmediate);
      const remove = async (entry) => void (await removeTree(entry, { unlock: true }, DEFAULT_CONTEXT));
      let [removed, steps] = [0, 0];
      for (let round = 0; round < 60; round += 1) {
        if (args[0] === 'enforce') removed += (await enforceLimits(history, { pause, removeTree: remove, quietMs: 5 })).length;
        else {
          await writeFile(root, path('f' + (round % 3)), Buffer.alloc(400), { durable: false });
          for (const { step } of pastSteps(history, { path: round % 2 ? 'f1' : undefined })) {
            steps += 1;
            if (step.kept) history.kept.lstat(step.kept);
          }
        }
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      answer({ removed, steps });`;
    const folder = kept.box.inside;
    const results = await Promise.all(
      ['enforce', 'enforce', 'use'].map((what) =>
        runChild<{ removed: number; steps: number }>(script, { folder, args: [what] }),
      ),
    );
    const removed = results.reduce((sum, one) => sum + one.removed, 0);
    expect(results[2]?.steps).toBeGreaterThan(60);
    expect(removed).toBeGreaterThan(10);
    await kept.enforce();
    expect(kept.keptBytes()).toBeLessThanOrEqual(4000);
    // One step each, and none of them removed twice.
    const segments = kept.history.log.segments();
    expect(segments.length).toBeGreaterThan(1);
    expect(kept.known().length).toBeGreaterThan(8);
    expect(fs.readdirSync(kept.box.host('.ringfence/kept')).every((name) => /^\d{8}$/.test(name))).toBe(true);
  });

  test('what a killed process left of a removal, of indexes and of segments is removed', async () => {
    using kept = new Kept();
    await kept.rewrite('f', [100, 1]);
    const { box, history } = kept;
    history.log.rotate();
    history.log.rotate();
    box.file('.ringfence/kept/00000002-expired-x/a/b');
    box.file('.ringfence/log/00000000.paths');
    box.file('.ringfence/kept/00000000/stray');
    box.file('.ringfence/log/.ringfence-tmp-x');
    fs.utimesSync(box.host('.ringfence/log/.ringfence-tmp-x'), 0, 0);
    await kept.enforce();
    expect(fs.readdirSync(box.host('.ringfence/kept'))).toEqual(['00000001']);
    expect(fs.readdirSync(box.host('.ringfence/log')).sort()).toEqual([
      '00000001',
      '00000001.paths',
      '00000002',
      '00000002.paths',
      '00000003',
    ]);
    expect(kept.known()).toEqual([100]);
  });
});

test('statistics count what happened, and are kept beside the segments', async () => {
  using kept = new Kept({ maxBytes: 10 ** 9 });
  const { history, box } = kept;
  expect(await historyStatistics(history)).toMatchObject({ changes: 0, steps: 0, keptBytes: 0, oldest: undefined });
  const start = Date.now();
  await kept.rewrite('a/f', [10, 20, 30]);
  history.changeOf(undefined).begin({ kind: 'make', path: 'never' }).cancel();
  await addCheckpoint(history, 'one');
  const found = await historyStatistics(history);
  // The folder and the first file are one change.
  expect(found).toMatchObject({ changes: 3, steps: 4, keptBytes: 30, keptFiles: 2, isCut: false });
  expect(found.checkpoints.map(({ name }) => name)).toEqual(['one']);
  expect(found.limits).toMatchObject({ maxBytes: 10 ** 9 });
  expect(found.oldest).toBeGreaterThanOrEqual(start);
  expect(found.newest).toBeGreaterThanOrEqual(found.oldest ?? 0);
  history.log.rotate();
  await kept.rewrite('a/f', [40]);
  const before = await historyStatistics(history);
  expect(before).toMatchObject({ changes: 4, steps: 5, keptBytes: 60, keptFiles: 3 });
  const [name = ''] = fs.readdirSync(box.host('.ringfence/kept/00000001'));
  // What was counted is used again as long as nothing is put there or taken away.
  fs.utimesSync(box.host('.ringfence/kept/00000001'), 1, 1);
  await historyStatistics(history);
  const { bytes } = JSON.parse(box.text('.ringfence/log/00000001.kept').slice(10));
  expect(bytes).toBe(30);
  fs.appendFileSync(box.host('.ringfence/kept/00000001', name), 'not counted again');
  expect(await historyStatistics(history)).toEqual(before);
  fs.rmSync(box.host('.ringfence/kept/00000001', name));
  expect((await historyStatistics(history)).keptFiles).toBe(2);
});

const reason = cannotDropPrivileges === undefined ? '' : ` (skipped: ${cannotDropPrivileges})`;
test.skipIf(cannotDropPrivileges !== undefined)(
  `without privileges, read-only folders are removed too${reason}`,
  async () => {
    using box = new Sandbox('openat2', memory());
    fs.chmodSync(box.inside, 0o777);
    const answer = await runChild(
      `
    const fs = await import('node:fs');
    const { History } = await from('history/index.js');
    const { enforceLimits } = await from('history/limits/enforce-limits.js');
    const { removeTree } = await from('files/remove/remove-folder.js');
    const history = History.open(root, { keepMs: 1e9, maxBytes: 10, over: 'allow' });
    fs.mkdirSync(folder + '/d/sub', { recursive: true });
    fs.writeFileSync(folder + '/d/sub/f', 'more than ten bytes');
    fs.chmodSync(folder + '/d/sub', 0o500);
    await removeFolder(root, path('d'), { durable: false });
    const remove = async (entry) => void (await removeTree(entry, { unlock: true }, DEFAULT_CONTEXT));
    await enforceLimits(history, { pause: () => undefined, removeTree: remove, quietMs: 0 });
    const modes = ['.ringfence', '.ringfence/log', '.ringfence/kept'].map((name) => fs.statSync(folder + '/' + name).mode & 0o777);
    answer({ left: fs.readdirSync(folder + '/.ringfence/kept'), modes });`,
      { folder: box.inside, unprivileged: true },
    );
    expect(answer).toEqual({ left: [], modes: [0o700, 0o700, 0o700] });
  },
);
