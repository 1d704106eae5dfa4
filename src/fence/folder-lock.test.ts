import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { runChild, startChild } from '../../tests/support/child.ts';
import { FenceError, lockFolder, lockFolders, ROOT_PATH, removeStaleLock, temporaryName } from './index.ts';
import { onEveryBackend, Sandbox } from './sandbox.fixture.ts';

const LOCK = '.ringfence-tmp-lock';
const gone = temporaryName().replace(`-${process.pid}-`, `-${spawnSync(process.execPath, ['-e', '']).pid}-`);
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

onEveryBackend((open) => {
  test('a folder is locked by one at a time, and another is free', async () => {
    using box = open();
    box.folder('other');
    using dir = box.root.openDir(ROOT_PATH);
    using same = box.root.openDir(ROOT_PATH);
    using other = dir.openDir('other');
    const first = await lockFolder(dir);
    let second: Disposable | undefined;
    const waiting = lockFolder(same).then((lock) => {
      second = lock;
    });
    (await lockFolder(other))?.[Symbol.dispose]();
    await pause();
    expect([first === undefined, second]).toEqual([false, undefined]);
    first?.[Symbol.dispose]();
    await waiting;
    expect(second).toBeDefined();
    second?.[Symbol.dispose]();
    expect(box.tree()).toEqual(['other/']);
  });

  test('two folders, or one folder twice, are locked together', async () => {
    using box = open();
    box.folder('a');
    box.folder('b');
    using a = box.root.openDir(box.at('a').path);
    using b = box.root.openDir(box.at('b').path);
    let held = 0;
    const use = async (one: typeof a, two: typeof a) => {
      using _locks = await lockFolders(one, two);
      held += 1;
      await pause();
      expect(held).toBe(1);
      held -= 1;
    };
    await Promise.all([use(a, b), use(b, a), use(a, a), use(b, a)]);
    expect(box.tree()).toEqual(['a/', 'b/']);
  });

  test('a folder that stays locked is busy, and nothing is locked then', async () => {
    using box = open();
    box.folder('a');
    box.folder('b');
    using a = box.root.openDir(box.at('a').path);
    using b = box.root.openDir(box.at('b').path);
    for (const dir of [a, b]) {
      using held = await lockFolder(dir);
      expect(held).toBeDefined();
      await expect(lockFolder(dir, 20)).rejects.toMatchObject({ code: 'busy' });
      await expect(lockFolders(a, b, 20)).rejects.toMatchObject({ code: 'busy' });
      using other = await lockFolder(dir === a ? b : a, 20);
      expect(other).toBeDefined();
    }
    expect(box.tree()).toEqual(['a/', 'b/']);
  });

  test('a folder without locks is not locked', async () => {
    using box = open();
    using dir = box.root.openDir(ROOT_PATH);
    vi.spyOn(dir, 'flock').mockReturnValue(undefined);
    vi.spyOn(dir, 'symlink').mockImplementation(() => {
      throw new FenceError('permission_denied', {});
    });
    expect(await lockFolder(dir)).toBeUndefined();
  });
});

describe.runIf(process.platform === 'linux').each(['openat2', 'procfd'] as const)('%s', (fence) => {
  test('the lock of a killed process is taken over at once', async () => {
    using box = new Sandbox(fence);
    const script = `
      const { lockFolder, ROOT_PATH } = await from('fence/index.js');
      const lock = await lockFolder(root.openDir(ROOT_PATH));
      answer(lock !== undefined);
      setInterval(() => lock, 1000);`;
    const child = startChild(script, { folder: box.inside, fence });
    const [answer] = await once(child.stdout as NodeJS.ReadableStream, 'data');
    expect(String(answer)).toBe('true\n');
    using dir = box.root.openDir(ROOT_PATH);
    let taken = false;
    const waiting = lockFolder(dir).then((lock) => {
      taken = true;
      lock?.[Symbol.dispose]();
    });
    await pause();
    expect(taken).toBe(false);
    child.kill('SIGKILL');
    await once(child, 'close');
    const before = performance.now();
    await waiting;
    expect(performance.now() - before).toBeLessThan(1000);
    expect(box.tree()).toEqual([]);
  });
});

describe.runIf(process.platform === 'linux')('a flock and a link', () => {
  test.each([
    ['openat2', 'procfd'],
    ['procfd', 'openat2'],
    ['portable', 'openat2'],
  ] as const)('exclude each other: %s before %s', async (first, second) => {
    using box = new Sandbox(first);
    using mine = box.root.openDir(ROOT_PATH);
    using theirs = box.open('.', second).openDir(ROOT_PATH);
    const lock = await lockFolder(mine);
    await expect(lockFolder(theirs, 20)).rejects.toMatchObject({ code: 'busy' });
    expect(box.tree()).toHaveLength(first === 'openat2' ? 0 : 1);
    lock?.[Symbol.dispose]();
    using _free = await lockFolder(theirs, 20);
  });

  test('exclude each other from different PID namespaces', async () => {
    using box = new Sandbox('openat2');
    using dir = box.root.openDir(ROOT_PATH);
    const script = `
      const { lockFolder, ROOT_PATH } = await from('fence/index.js');
      answer(await outcome(lockFolder(root.openDir(ROOT_PATH), 50)));`;
    const inContainer = () => runChild(script, { folder: box.inside, fence: 'procfd', pidNamespace: true });
    {
      using _lock = await lockFolder(dir);
      expect(await inContainer()).toBe('busy');
    }
    expect(await inContainer()).toBe('ok');
  });
});

describe('a lock by link', () => {
  const locked = async (box: Sandbox): Promise<number> => {
    using dir = box.root.openDir(ROOT_PATH);
    const before = performance.now();
    using lock = await lockFolder(dir);
    expect(lock).toBeDefined();
    return performance.now() - before;
  };

  test('is not listed', async () => {
    using box = new Sandbox('procfd');
    using dir = box.root.openDir(ROOT_PATH);
    using _lock = await lockFolder(dir);
    expect([box.tree().length, dir.list()]).toEqual([1, []]);
  });

  test('of a process that is gone is broken, also if that process was breaking another', async () => {
    using box = new Sandbox('procfd');
    box.link(gone, LOCK);
    box.link(gone.replace(/.$/, 'x'), `${LOCK}-${gone.split('-').at(-1)}`);
    expect(await locked(box)).toBeLessThan(1000);
    expect(box.tree()).toEqual([]);
  });

  test('of a living process is never broken, whatever the clock says', async () => {
    using box = new Sandbox('procfd');
    const host = box.link(temporaryName(), LOCK);
    using dir = box.root.openDir(ROOT_PATH);
    fs.lutimesSync(host, new Date(), new Date(Date.now() - 365 * 86_400_000));
    expect(removeStaleLock(dir, LOCK)).toBe(false);
    await expect(lockFolder(dir, 20)).rejects.toMatchObject({ code: 'busy' });
    expect(box.tree()).toHaveLength(1);
  });

  test.each(['openat2', 'procfd'] as const)(
    'of a process that had the pid of a living one is broken by %s',
    async (by) => {
      using box = new Sandbox(by);
      const [start = ''] = temporaryName().split('-').slice(4);
      box.link(temporaryName().replace(`-${start}-`, `-${Number(start) - 1}-`), LOCK);
      expect(await locked(box)).toBeLessThan(1000);
      expect(box.tree()).toEqual([]);
    },
  );

  test.each(['openat2', 'procfd'] as const)(
    'of an owner in another container is taken over by %s when it stands for long',
    async (by) => {
      using box = new Sandbox(by);
      box.link(
        temporaryName().replace(/tmp-\w{8}\w{4}/, (own) => `${own.slice(0, 12)}0000`),
        LOCK,
      );
      using dir = box.root.openDir(ROOT_PATH);
      await expect(lockFolder(dir, 200)).rejects.toMatchObject({ code: 'busy' });
      expect(removeStaleLock(dir, LOCK)).toBe(false);
      expect(await locked(box)).toBeGreaterThan(3000);
      expect(box.tree()).toEqual([]);
    },
  );

  test('is removed by its owner only', async () => {
    using box = new Sandbox('procfd');
    using dir = box.root.openDir(ROOT_PATH);
    const lock = await lockFolder(dir);
    fs.unlinkSync(box.host(LOCK));
    box.link('another', LOCK);
    lock?.[Symbol.dispose]();
    expect(box.tree()).toEqual([`${LOCK} -> another`]);
  });
});
