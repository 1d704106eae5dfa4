import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Dir, parseCallerPath, Root } from '../../fence/index.ts';
import { outcome } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { type EntryInfo, type FolderEntry, listEntries, listFolder } from './list-folder.ts';
import { STEP_ENTRIES, StatBatch } from './stat-batch.ts';
import { type StatNotice, StatThread } from './stat-thread.ts';

const COUNT = 6_000;
const ALL = COUNT + 3;
const LAST = Math.ceil(ALL / STEP_ENTRIES) - 1;
const HERE = parseCallerPath('.');
const top = fs.mkdtempSync(path.join(os.tmpdir(), 'stat-thread-'));
const broken = { statLite: () => expect.fail('broken') } as unknown as Dir;
let root: Root;

/** A fake thread that passes each notice to a callback. */
function threadThat(given: (batch: StatBatch) => void, thread = { hasEnded: false }): StatThread {
  return new StatThread(
    Object.assign(thread, {
      notify: ({ work }: StatNotice) => work && given(new StatBatch(work.batch)),
      close: async () => {},
    }),
  );
}

async function listWith(statThread: StatThread, { maxEntries = COUNT * 2, context = DEFAULT_CONTEXT } = {}) {
  const entries: FolderEntry[] = [];
  const onEntry = (name: string, info: EntryInfo) => entries.push({ name, ...info }) > 0;
  return { count: await listEntries(root, HERE, { maxEntries, statThread, onEntry }, context), entries };
}

beforeAll(() => {
  for (let number = 0; number < COUNT; number += 1) {
    fs.writeFileSync(path.join(top, `${(number * 7919) % COUNT}-${'x'.repeat(number % 40)}`), 'y'.repeat(number % 100));
  }
  fs.mkdirSync(path.join(top, 'folder'));
  fs.symlinkSync('folder', path.join(top, 'link'));
  fs.writeFileSync(path.join(top, 'größe'), 'z');
  root = Root.open('w', top);
});

afterAll(() => {
  root[Symbol.dispose]();
  fs.rmSync(top, { recursive: true, force: true });
});

describe('a large folder listed with a second thread', () => {
  test('has the same listing as with one thread, wherever the threads meet', async () => {
    const alone = await listFolder(root, HERE, DEFAULT_CONTEXT);
    expect(alone).toHaveLength(ALL);
    await using thread = new StatThread();
    const batches: StatBatch[] = [];
    const help = vi.spyOn(thread, 'help').mockImplementation((...args) => {
      batches.push(args[2]);
      return StatThread.prototype.help.apply(thread, args);
    });
    // A thread that has just started may be too late to help.
    await vi.waitFor(
      async () => {
        expect(await listWith(thread)).toEqual({ entries: alone, count: ALL });
        expect(batches.at(-1)?.isFilled(LAST)).toBe(true);
      },
      { timeout: 10_000 },
    );
    expect(batches.at(-1)?.isFilled(0)).toBe(false);
    expect(batches.at(-1)?.type(ALL - 1)).toBe('symlink');
    help.mockRestore();
  });

  test('reports what the second thread statted without statting it again', async () => {
    using dir = root.openDir(HERE);
    const seen = vi.spyOn(Object.getPrototypeOf(dir), 'statLite');
    const quick = threadThat((part) => {
      part.fill({ statLite: () => ({ type: 'other', size: 1, mtimeMs: 2 }) } as unknown as Dir);
    });
    const { entries } = await listWith(quick);
    expect(seen).not.toHaveBeenCalled();
    seen.mockRestore();
    const names = (await listFolder(root, HERE, DEFAULT_CONTEXT)).map(({ name }) => name);
    expect(entries).toEqual(names.map((name) => ({ name, type: 'other', size: 1, modifiedMs: 2 })));
  });

  test('reports and shares only the first maxEntries entries', async () => {
    const parts: StatBatch[] = [];
    const idle = threadThat((part) => void parts.push(part));
    const { entries, count } = await listWith(idle, { maxEntries: 2_000 });
    expect(entries).toEqual((await listFolder(root, HERE, DEFAULT_CONTEXT)).slice(0, 2_000));
    expect(count).toBe(ALL);
    expect(parts.map(({ shared }) => shared.count)).toEqual([2_000]);
  });

  test('reports a further entry for each one that was removed meanwhile', async () => {
    using dir = root.openDir(HERE);
    const names = (await listFolder(root, HERE, DEFAULT_CONTEXT)).map(({ name }) => name);
    const file = path.join(top, names[7] as string);
    const content = fs.readFileSync(file);
    const late = threadThat((part) => {
      fs.rmSync(file);
      part.fill(dir);
    });
    const { entries, count } = await listWith(late, { maxEntries: 2_000 });
    fs.writeFileSync(file, content);
    expect(entries.map(({ name }) => name)).toEqual(names.toSpliced(7, 1).slice(0, 2_000));
    expect(count).toBe(ALL - 1);
  });

  test('is statted by the caller alone if the second thread never begins', async () => {
    const parts: StatBatch[] = [];
    const idle = threadThat((part) => void parts.push(part));
    expect((await listWith(idle)).entries).toEqual(await listFolder(root, HERE, DEFAULT_CONTEXT));
    parts[0]?.fill(broken);
    expect(parts[0]?.claim(LAST)).toBe(false);
  });

  test('leaves no step to the second thread after an abort', async () => {
    const stop = new AbortController();
    const parts: StatBatch[] = [];
    const idle = threadThat((part) => {
      parts.push(part);
      stop.abort();
    });
    const context = { signal: stop.signal, progress: () => {} };
    expect(await outcome(() => listWith(idle, { context }))).toBe('cancelled');
    expect(parts).toHaveLength(1);
    expect(parts[0]?.claim(LAST)).toBe(false);
  });

  test('can be aborted while waiting for the second thread', async () => {
    const stop = new AbortController();
    const slow = threadThat((part) => {
      part.claim(LAST);
      setTimeout(() => stop.abort(), 50);
    });
    const context = { signal: stop.signal, progress: () => {} };
    expect(await outcome(() => listWith(slow, { context }))).toBe('cancelled');
  });

  test('is listed completely if the second thread ends during its work', async () => {
    const thread = { hasEnded: false };
    const ended = threadThat((part) => {
      part.claim(LAST - 1);
      thread.hasEnded = true;
    }, thread);
    expect((await listWith(ended)).entries).toEqual(await listFolder(root, HERE, DEFAULT_CONTEXT));
  });

  test('is listed completely if the second thread cannot stat anything', async () => {
    const failing = threadThat((part) => expect(() => part.fill(broken)).toThrow('broken'));
    expect((await listWith(failing)).entries).toEqual(await listFolder(root, HERE, DEFAULT_CONTEXT));
  });

  test('uses what the second thread statted before it failed, and stats the rest', async () => {
    const half = threadThat((part) => {
      let left = 3;
      const statLite: Dir['statLite'] = () => {
        left -= 1;
        return left < 0 ? expect.fail('broken') : { type: 'other', size: 1, mtimeMs: 2 };
      };
      expect(() => part.fill({ statLite } as unknown as Dir)).toThrow('broken');
    });
    const expected = await listFolder(root, HERE, DEFAULT_CONTEXT);
    const { entries } = await listWith(half);
    const reported = entries
      .map(({ type, size }, at) => (type === 'other' && size === 1 ? at : -1))
      .filter((at) => at >= 0);
    expect(reported).toEqual([0, 1, 2].map((at) => LAST * STEP_ENTRIES + at));
    expect(entries.filter((_, at) => !reported.includes(at))).toEqual(
      expected.filter((_, at) => !reported.includes(at)),
    );
  });

  test('is listed by one thread if there is no second one', async () => {
    const closed = new StatThread();
    await closed.close();
    expect((await listWith(closed)).entries).toHaveLength(ALL);
    await closed.close();
  });

  test('has names that are not UTF-8, which only the caller can stat', async () => {
    const bytes = Buffer.concat([Buffer.from(`${top}/zz-`), Buffer.from([0xff])]);
    fs.writeFileSync(bytes, '12345');
    using dir = root.openDir(HERE);
    const { entries } = await listWith(threadThat((part) => part.fill(dir)));
    fs.rmSync(bytes);
    expect(entries.at(-1)).toMatchObject({ name: 'zz-\ufffd', type: 'file', size: 5 });
  });
});

describe('a step', () => {
  test('belongs to the thread that claims it first', () => {
    const part = StatBatch.of(['folder', 'gone']);
    const other = new StatBatch(part.shared);
    expect([other.claim(0), part.claim(0), other.claim(0)]).toEqual([true, false, false]);
  });

  test('that is claimed stops the second thread, which leaves all steps before it', () => {
    const part = StatBatch.of(Array.from({ length: 3 * STEP_ENTRIES }, () => 'folder'));
    using dir = root.openDir(HERE);
    part.claim(1);
    part.fill(dir);
    expect([0, 1, 2].map((step) => part.isFilled(step))).toEqual([false, false, true]);
    expect(part.claim(0)).toBe(true);
  });

  test('shows other threads what was statted and what is missing', async () => {
    const part = StatBatch.of(['folder', 'gone', 'link']);
    const other = new StatBatch(part.shared);
    await other.wait(0, 1);
    expect(other.isFilled(0)).toBe(false);
    using dir = root.openDir(HERE);
    part.fill(dir);
    await other.wait(0, 1);
    expect(other.isFilled(0)).toBe(true);
    expect([0, 1, 2].map((at) => other.type(at))).toEqual(['directory', undefined, 'symlink']);
    expect({ type: other.type(0), size: other.size(0), mtimeMs: other.mtimeMs(0) }).toEqual(dir.statLite('folder'));
  });

  test('wakes its waiter', async () => {
    const part = StatBatch.of(['folder']);
    const other = new StatBatch(part.shared);
    let woken: Promise<void> | undefined;
    const whileLooking = () => {
      woken = other.wait(0, 60_000);
    };
    part.fill({ statLite: whileLooking } as unknown as Dir);
    await woken;
    expect(other.isFilled(0)).toBe(true);
  }, 10_000);

  test('that failed is marked as failed', () => {
    const part = StatBatch.of(['folder']);
    expect(() => part.fill(broken)).toThrow('broken');
    expect([part.isFilled(0), part.hasFailed(0)]).toEqual([false, true]);
  });
});

describe('the thread', () => {
  test('is started once, shortly after the first request', async () => {
    const started = vi.fn();
    process.on('worker', started);
    await using thread = new StatThread();
    using dir = root.openDir(HERE);
    const help = (): StatBatch | undefined => {
      const batch = StatBatch.of(['folder']);
      return thread.help(root, dir, batch) && batch;
    };
    expect([help(), help()]).toEqual([undefined, undefined]);
    expect(started).not.toHaveBeenCalled();
    const batch = await vi.waitFor(() => help() ?? expect.fail('no help yet'));
    await vi.waitUntil(() => batch.isFilled(0), { timeout: 10_000 });
    expect(batch.type(0)).toBe('directory');
    expect(started).toHaveBeenCalledOnce();
    process.off('worker', started);
  });

  test('does not start after close', async () => {
    const started = vi.fn();
    process.on('worker', started);
    const thread = new StatThread();
    using dir = root.openDir(HERE);
    thread.help(root, dir, StatBatch.of(['folder']));
    await thread.close();
    thread.help(root, dir, StatBatch.of(['folder']));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(started).not.toHaveBeenCalled();
    process.off('worker', started);
  });
});
