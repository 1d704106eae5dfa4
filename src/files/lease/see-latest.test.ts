import fs from 'node:fs';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { MemoryStore } from '../../cluster/memory-store.ts';
import { leasedName } from '../../fence/index.ts';
import { outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { move } from '../copy/move.ts';
import { Leases } from './leases.ts';
import { ChangeAttempt } from './retry-change.ts';
import { refreshed } from './see-latest.ts';
import { isReplaced } from './stamp.ts';
import { takeLease } from './take-lease.ts';

const { signal } = DEFAULT_CONTEXT;

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A file on what counts as a file system of several machines, which the last holder of its lease has noted. */
async function notedFile() {
  const box = new Sandbox('procfd');
  onTestFinished(() => box[Symbol.dispose]());
  const store = new MemoryStore();
  new Leases(store).coordinate(box.root);
  const at = { dir: box.root.top, name: 'f' };
  vi.spyOn(at.dir, 'isLocal').mockReturnValue(false);
  const take = () => takeLease({ root: box.root, at }, { attempt: new ChangeAttempt(), signal, optional: false });
  box.file('f', 'of the last holder');
  // Nobody has changed it lately, so that nothing is waited for.
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 60_000);
  await (await take())?.[Symbol.asyncDispose]();
  vi.mocked(Date.now).mockRestore();
  return { box, at, store, take };
}

/** Puts a file there that is older than the noted one. */
function putOlder(host: string): void {
  fs.writeFileSync(`${host}.older`, 'older');
  fs.utimesSync(`${host}.older`, 1_000, 1_000);
  fs.renameSync(`${host}.older`, host);
}

test('a file that the disks no longer have counts as replaced, until its name is looked up', async () => {
  const { at } = await notedFile();
  expect(isReplaced(refreshed(at))).toBe(false);
  const isStored = vi.spyOn(at.dir, 'isStored').mockReturnValueOnce(false);
  expect(isReplaced(refreshed(at))).toBe(false);
  isStored.mockReturnValue(false);
  expect(isReplaced(refreshed(at))).toBe(true);
});

test.each([true, false])(
  'an older file than the noted one is accepted by the next attempt if the disks have it: %s',
  async (isStored) => {
    const { box, at, store, take } = await notedFile();
    putOlder(box.host('f'));
    vi.spyOn(at.dir, 'isStored').mockReturnValue(isStored);
    vi.useFakeTimers();
    const attempt = async () => {
      const result = outcome(take().then((lease) => lease?.[Symbol.asyncDispose]()));
      await vi.advanceTimersByTimeAsync(12_000);
      return result;
    };
    const key = `${at.dir.lstat('.')?.ino}/f`;
    const noted = await store.leaseNote(key);
    expect(await attempt()).toBe('changed_meanwhile');
    const next = await store.acquireLease(key, 10);
    expect(next).toMatchObject({ note: isStored ? '' : noted });
    if (next.granted) await store.releaseLease(key, next.token, next.note || undefined);
    expect(await attempt()).toBe(isStored ? 'ok' : 'changed_meanwhile');
  },
);

test('a file that was moved away is no base for a change, however long its former name is shown', async () => {
  const { box, at, store, take } = await notedFile();
  const [lease, there] = [await take(), { dir: at.dir, name: 'g' }];
  await lease?.[Symbol.asyncDispose]();
  await move(box.at('f'), box.at('g'));
  const key = `${at.dir.lstat('.')?.ino}/f`;
  const noted = await store.leaseNote(key);
  expect(noted).toContain(String(there.dir.lstat('g')?.ino));
  // As a machine shows it that goes on reading it by its new name.
  const lstat = at.dir.lstat.bind(at.dir);
  vi.spyOn(at.dir, 'lstat').mockImplementation((name) => lstat(name === 'f' ? 'g' : name));
  vi.useFakeTimers();
  const result = outcome(take().then((lease) => lease?.[Symbol.asyncDispose]()));
  await vi.advanceTimersByTimeAsync(12_000);
  expect(await result).toBe('changed_meanwhile');
  expect(await store.leaseNote(key)).toBe(noted);
});

test('a file that is cached as the last holder has left it is no base for a change if the disks lack it', async () => {
  const { at, take } = await notedFile();
  vi.spyOn(at.dir, 'isStored').mockReturnValue(false);
  vi.useFakeTimers();
  const result = outcome(take().then((lease) => lease?.[Symbol.asyncDispose]()));
  await vi.advanceTimersByTimeAsync(12_000);
  expect(await result).toBe('changed_meanwhile');
});

test('what earlier holders have left is removed if the store may have forgotten them', async () => {
  const { box, at, store, take } = await notedFile();
  const left = box.file(leasedName(at.dir, 'f', 1), 'late');
  await (await take())?.[Symbol.asyncDispose]();
  expect(fs.existsSync(left)).toBe(true);
  const acquireLease = store.acquireLease.bind(store);
  vi.spyOn(store, 'acquireLease').mockImplementation(async (...args) => {
    return { ...(await acquireLease(...args)), note: undefined, hasForgotten: true };
  });
  await (await take())?.[Symbol.asyncDispose]();
  expect(fs.existsSync(left)).toBe(false);
});

test('what is only cached is no base for a change, though nobody has noted what has to be there', async () => {
  const { at, store, take } = await notedFile();
  const key = `${at.dir.lstat('.')?.ino}/f`;
  expect(await store.acquireLease(key, 10)).toMatchObject({ granted: true });
  vi.spyOn(at.dir, 'isStored').mockReturnValue(false);
  await vi.waitFor(async () => expect(await outcome(take())).toBe('changed_meanwhile'), { timeout: 10_000 });
});
