import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { MemoryStore } from '../../src/cluster/memory-store.ts';
import { StoreUnavailable } from '../../src/cluster/shared-store.ts';
import { DescriptorDir } from '../../src/fence/descriptor-dir.ts';
import { Dir, FenceError, fromSystem, type RootPath } from '../../src/fence/index.ts';
import { memory, onEveryBackend, outcome, Sandbox } from '../../src/fence/sandbox.fixture.ts';
import { copy } from '../../src/files/copy/copy.ts';
import { move } from '../../src/files/copy/move.ts';
import { PlacedCopy } from '../../src/files/copy/placed-copy.ts';
import { patchFile, replaceText } from '../../src/files/edit/edit-file.ts';
import type { LeaseStore } from '../../src/files/lease/lease-store.ts';
import { Leases } from '../../src/files/lease/leases.ts';
import { removeEntry, removeFile } from '../../src/files/remove/remove-entry.ts';
import { removeFolder } from '../../src/files/remove/remove-folder.ts';
import { versionOf } from '../../src/files/version.ts';
import { makeFolder } from '../../src/files/write/make-folder.ts';
import { writeFile } from '../../src/files/write/write-file.ts';
import { FairScheduler } from '../../src/runtime/fair-scheduler.ts';
import { DEFAULT_CONTEXT } from '../../src/runtime/operation-context.ts';

const FAST = { durable: false };
/** How long a lease lasts here where others take it over. */
const SHORT_MS = 300;
/** How long one lasts that nobody should take over, however busy the machine is. */
const LONG_MS = 20_000;
/** How long it is looked whether somebody waits. */
const WAITS_MS = 75;

afterEach(() => void vi.restoreAllMocks());

/** A store that notes who asks for which lease. */
class WatchedStore implements LeaseStore {
  readonly asked: string[] = [];
  readonly tokens: number[] = [];
  /** Delays the answer that a lease still holds, as if the process that asked had been stopped. */
  stop: Promise<unknown> | undefined;
  readonly #store: LeaseStore;
  readonly #maxLeaseMs: number;

  constructor(store: LeaseStore, maxLeaseMs: number) {
    this.#store = store;
    this.#maxLeaseMs = maxLeaseMs;
  }

  async acquireLease(key: string, ttlMs: number) {
    const answer = await this.#store.acquireLease(key, Math.min(ttlMs, this.#maxLeaseMs));
    if (answer.granted) {
      this.asked.push(key);
      this.tokens.push(answer.token);
    }
    return answer;
  }

  async renewLease(key: string, token: number, ttlMs: number) {
    const held = await this.#store.renewLease(key, token, Math.min(ttlMs, this.#maxLeaseMs));
    const { stop } = this;
    this.stop = undefined;
    await stop;
    return held;
  }

  leaseNote(key: string) {
    return this.#store.leaseNote(key);
  }

  releaseLease(key: string, token: number, note?: string) {
    return this.#store.releaseLease(key, token, note);
  }

  async handOnLease(key: string, token: number, note: string, ttlMs: number) {
    const answer = await this.#store.handOnLease(key, token, note, Math.min(ttlMs, this.#maxLeaseMs));
    if (answer.granted) this.tokens.push(answer.token);
    return answer;
  }
}

const gone = () => Promise.reject(new StoreUnavailable('unreachable'));
/** A store that cannot be reached. */
const GONE: LeaseStore = {
  acquireLease: gone,
  renewLease: gone,
  leaseNote: gone,
  releaseLease: gone,
  handOnLease: gone,
};

interface ReplicaOptions extends NonNullable<ConstructorParameters<typeof Leases>[1]> {
  /** How long a lease lasts at most, whatever is asked for: too short to be renewed unless `leaseMs` says otherwise. */
  readonly maxLeaseMs?: number;
}

/** A sandbox with two roots on it, each with a view of one store, as two replicas have. */
function twoReplicas(open: () => Sandbox, { maxLeaseMs = SHORT_MS, ...options }: ReplicaOptions = {}) {
  const box = open();
  onTestFinished(() => box[Symbol.dispose]());
  const store = new MemoryStore();
  const [a, b] = [new WatchedStore(store, maxLeaseMs), new WatchedStore(store, maxLeaseMs)];
  const rootOfB = box.open('.', 'openat2');
  new Leases(a, options).coordinate(box.root);
  new Leases(b, options).coordinate(rootOfB);
  return { box, a, b, at: box.root.parse('f'), roots: { a: box.root, b: rootOfB } };
}

onEveryBackend((open) => {
  describe.each(['edit', 'append', 'overwrite'] as const)('a holder that is stopped before its %s lands', (kind) => {
    test('does not undo what the next holder has done', async () => {
      const { box, a, roots, at } = twoReplicas(open);
      box.file('f', 'one two\n');
      const other = withResolvers();
      a.stop = other.promise;
      const stopped = {
        edit: () => replaceText(roots.a, at, { oldText: 'one', newText: 'ONE' }, FAST),
        append: () => writeFile(roots.a, at, Buffer.from('more\n'), { ...FAST, mode: 'append' }),
        overwrite: () => writeFile(roots.a, at, Buffer.from('ONE\n'), FAST),
      }[kind]();
      await expect.poll(() => box.tree().length).toBe(2);
      await replaceText(roots.b, at, { oldText: 'two', newText: 'TWO' }, FAST);
      expect(box.text('f')).toBe('one TWO\n');
      // The next holder has removed what would have been renamed.
      expect(box.tree()).toEqual(['f']);
      other.resolve(undefined);
      await stopped;
      expect(a.tokens).toHaveLength(2);
      expect(box.text('f')).toBe({ edit: 'ONE TWO\n', append: 'one TWO\nmore\n', overwrite: 'ONE\n' }[kind]);
      expect(box.tree()).toEqual(['f']);
    });
  });

  test('a holder that dies is waited for, and no longer than its lease lasts', async () => {
    const { box, a, b, roots, at } = twoReplicas(open);
    box.file('f', 'one\n');
    const key = `${fs.statSync(box.inside).ino}/f`;
    await a.acquireLease(key, 60_000);
    const started = performance.now();
    await replaceText(roots.b, at, { oldText: 'one', newText: 'two' }, FAST);
    expect(performance.now() - started).toBeGreaterThan(SHORT_MS / 2);
    expect(b.asked).toEqual([key]);
    expect(box.text('f')).toBe('two\n');
  });

  test('concurrent edits of two roots are all kept, and each holder has a larger token', async () => {
    const { box, a, b, roots, at } = twoReplicas(open);
    const names = Array.from({ length: 20 }, (_, index) => `<${index}>`);
    box.file('f', names.join(''));
    const edit = (name: string, index: number) =>
      replaceText(index % 2 ? roots.a : roots.b, at, { oldText: name, newText: name.replace('<', '(') }, FAST);
    await Promise.all(names.map(edit));
    expect(box.text('f')).toBe(names.join('').replaceAll('<', '('));
    expect(new Set([...a.tokens, ...b.tokens]).size).toBe(names.length);
    expect(box.tree()).toEqual(['f']);
  });
});

test('a file has one lease, by whatever root, link or folder it is reached', async () => {
  const { box, a, roots } = twoReplicas(() => new Sandbox('openat2'));
  box.file('d/f', '0');
  box.link('d', 'folder');
  box.link('../d/f', 'd/link');
  const inner = box.open('d', 'procfd');
  new Leases(a).coordinate(inner);
  await writeFile(inner, inner.parse('f'), Buffer.from('1'), FAST);
  for (const path of ['d/f', 'folder/f', 'd/link', '/d/../d/f']) {
    await writeFile(roots.a, roots.a.parse(path), Buffer.from(path), FAST);
  }
  expect(new Set(a.asked)).toEqual(new Set([`${fs.statSync(box.host('d')).ino}/f`]));
  expect(a.asked).toHaveLength(5);
});

test.each(['remove', 'move', 'move onto', 'copy onto'] as const)(
  'a %s waits for the edit of another server',
  async (kind) => {
    const { box, a, b, roots, at } = twoReplicas(() => new Sandbox('openat2'), { maxLeaseMs: LONG_MS });
    box.file('f', 'one\n');
    box.file('g', 'g\n');
    const other = withResolvers();
    a.stop = other.promise;
    const edit = replaceText(roots.a, at, { oldText: 'one', newText: 'ONE' }, FAST);
    await expect.poll(() => box.tree().length).toBe(3);
    const [f, g] = ['f', 'g'].map((name) => box.at(name, roots.b)) as [RootPath, RootPath];
    const done = {
      remove: () => removeFile(roots.b, at, FAST),
      move: () => move(f, box.at('h', roots.b), FAST),
      'move onto': () => move(g, f, FAST),
      'copy onto': () => copy(g, f, FAST),
    }[kind]();
    await sleep(WAITS_MS);
    expect(box.text('f')).toBe('one\n');
    expect(b.tokens).toEqual([]);
    other.resolve(undefined);
    await Promise.all([edit, done]);
    const left = { remove: ['g'], move: ['g', 'h'], 'move onto': ['f'], 'copy onto': ['f', 'g'] }[kind];
    expect(box.tree()).toEqual(left);
    expect(box.text(left.at(kind === 'copy onto' ? 0 : -1) as string)).toBe(kind === 'move' ? 'ONE\n' : 'g\n');
  },
);

/** How long a lease lasts that is renewed. */
const RENEWED_MS = 800;

/** Gives up the thread for longer than a lease lasts, each time. */
class SlowScheduler extends FairScheduler {
  override yieldTurn(): Promise<void> {
    return sleep(RENEWED_MS * 2);
  }
}

test('a change that takes longer than a lease lasts keeps it, while another server waits', async () => {
  const { box, a, b, roots, at } = twoReplicas(() => new Sandbox('openat2'), {
    leaseMs: RENEWED_MS,
    maxLeaseMs: LONG_MS,
  });
  box.file('f', 'one\n');
  const context = { ...DEFAULT_CONTEXT, scheduler: new SlowScheduler() };
  const slow = writeFile(roots.a, at, Buffer.from('more\n'), { ...FAST, mode: 'append' }, context);
  await expect.poll(() => a.tokens.length).toBe(1);
  await Promise.all([slow, replaceText(roots.b, at, { oldText: 'one', newText: 'two' }, FAST)]);
  expect(box.text('f')).toBe('two\nmore\n');
  expect([a.tokens.length, b.tokens.length]).toEqual([1, 1]);
});

describe.each(['folder is moved', 'link is made to lead elsewhere'])('if a %s while its lease is awaited', (what) => {
  test.each(['edit', 'append', 'overwrite', 'copy'] as const)('the %s is done under the right lease', async (kind) => {
    const { box, a, b, roots } = twoReplicas(() => new Sandbox('openat2'));
    box.file('g', 'new\n');
    box.file('old/f', 'one\n');
    box.file('other/f', 'one two\n');
    if (what === 'link is made to lead elsewhere') box.link('old', 'd');
    else fs.renameSync(box.host('old'), box.host('d'));
    const keys = [`${fs.statSync(box.host('d')).ino}/f`, `${fs.statSync(box.host('other')).ino}/f`];
    await a.acquireLease(keys[0] as string, SHORT_MS);
    const at = roots.b.parse('d/f');
    const asked = vi.spyOn(b, 'acquireLease');
    const done = {
      edit: () => replaceText(roots.b, at, { oldText: 'one', newText: 'ONE' }, FAST),
      append: () => writeFile(roots.b, at, Buffer.from('new\n'), { ...FAST, mode: 'append' }),
      overwrite: () => writeFile(roots.b, at, Buffer.from('new\n'), FAST),
      copy: () => copy(box.at('g', roots.b), box.at('d/f', roots.b), FAST),
    }[kind]();
    await expect.poll(() => asked.mock.calls.length).toBeGreaterThan(0);
    fs.renameSync(box.host('d'), box.host('moved'));
    if (what === 'link is made to lead elsewhere') box.link('other', 'd');
    else fs.renameSync(box.host('other'), box.host('d'));
    await done;
    expect(b.asked).toEqual(keys);
    expect(box.text('moved/f')).toBe('one\n');
    const text = { edit: 'ONE two\n', append: 'one two\nnew\n', overwrite: 'new\n', copy: 'new\n' }[kind];
    expect(box.text('d/f')).toBe(text);
  });
});

test.each([true, false])(
  'a file in new folders is made under the lease by its folder, durable: %s',
  async (durable) => {
    const { box, a, roots } = twoReplicas(() => new Sandbox('openat2'));
    const patch = '--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+one\n';
    await patchFile(roots.a, roots.a.parse('x/y/f'), patch, { durable });
    await writeFile(roots.a, roots.a.parse('z/f'), Buffer.from('two\n'), { durable });
    const keys = ['x/y', 'z'].map((folder) => `${fs.statSync(box.host(folder)).ino}/f`);
    expect(a.asked.filter((key) => key.split('/').length === 2)).toEqual(keys);
    expect(a.asked.at(-1)).toBe(keys[1]);
    expect(box.tree()).toEqual(['x/', 'x/y/', 'x/y/f', 'z/', 'z/f']);
  },
);

test('no folder is left of an edit or a write that fails', async () => {
  const { box, roots } = twoReplicas(() => new Sandbox('openat2'));
  const at = roots.a.parse('x/y/f');
  expect(await outcome(replaceText(roots.a, at, { oldText: 'one', newText: 'two' }, FAST))).toBe('not_found');
  const ifMatch = 'a version';
  expect(await outcome(writeFile(roots.a, at, Buffer.from('x'), { ...FAST, ifMatch }))).toBe('version_mismatch');
  expect(box.tree()).toEqual([]);
});

test('a copy of a folder into an existing one waits for the edit of a file that it replaces', async () => {
  const { box, a, b, roots } = twoReplicas(() => new Sandbox('openat2'), { maxLeaseMs: LONG_MS });
  box.file('to/f', 'one\n');
  box.file('from/f', 'g\n');
  box.file('from/new', 'new\n');
  box.file('to/link', 'l\n');
  box.link('f', 'from/link');
  const other = withResolvers();
  a.stop = other.promise;
  const edit = replaceText(roots.a, roots.a.parse('to/f'), { oldText: 'one', newText: 'ONE' }, FAST);
  await expect.poll(() => a.stop === undefined).toBe(true);
  const done = copy(box.at('from', roots.b), box.at('to', roots.b), { ...FAST, intoFolders: false });
  await sleep(WAITS_MS);
  expect(box.text('to/f')).toBe('one\n');
  other.resolve(undefined);
  await Promise.all([edit, done]);
  expect(box.tree('to')).toEqual(['f', 'link -> f', 'new']);
  expect(box.text('to/f')).toBe('g\n');
  const folder = fs.statSync(box.host('to')).ino;
  expect(b.asked.sort()).toEqual([`${folder}/f`, `${folder}/link`]);
});

/** What Node throws for an error that it has no name for. */
function stale(): Error {
  const code = 'Unknown system error -116';
  return Object.assign(new Error(code), { code, errno: -116 });
}

const CHANGES = [
  'remove',
  'remove any',
  'remove folder',
  'move',
  'make folder',
  'edit',
  'overwrite',
  'copy',
  'copy folder',
] as const;

test.each(CHANGES)('a %s is tried again that failed with ESTALE before it changed anything', async (kind) => {
  const { box, roots, at } = twoReplicas(() => new Sandbox('openat2'));
  box.file('f', 'one\n');
  box.file('d/inner');
  const locate = vi.spyOn(roots.a, 'locate');
  for (let times = 0; times < 2; times += 1) {
    locate.mockImplementationOnce(() => {
      throw stale();
    });
  }
  const [f, g] = ['f', 'g'].map((name) => box.at(name)) as [RootPath, RootPath];
  await {
    remove: () => removeFile(roots.a, at, FAST),
    'remove any': () => removeEntry(roots.a, at, FAST),
    'remove folder': () => removeFolder(roots.a, roots.a.parse('d'), FAST),
    move: () => move(f, g, FAST),
    'make folder': () => makeFolder(roots.a, roots.a.parse('new'), FAST),
    edit: () => replaceText(roots.a, at, { oldText: 'one', newText: 'two' }, FAST),
    overwrite: () => writeFile(roots.a, at, Buffer.from('two\n'), FAST),
    copy: () => copy(f, g, FAST),
    'copy folder': () => copy(box.at('d'), g, FAST),
  }[kind]();
  expect(locate.mock.results.slice(0, 2).map(({ type }) => type)).toEqual(['throw', 'throw']);
  const left = ['d/', 'd/inner', 'f'];
  const removed = left.slice(0, -1);
  expect(box.tree()).toEqual(
    {
      remove: removed,
      'remove any': removed,
      'remove folder': ['f'],
      move: [...removed, 'g'],
      'make folder': [...left, 'new/'],
      edit: left,
      overwrite: left,
      copy: [...left, 'g'],
      'copy folder': [...left, 'g/', 'g/inner'],
    }[kind],
  );
});

/** Has a method of all folders fail a few times with the error of a file that is just being replaced. */
function failing(
  method: 'openFile' | 'openDir' | 'list' | 'mkdir' | 'lstat' | 'renameNoReplace',
  error: () => unknown,
) {
  const spy = vi.spyOn(Dir.prototype, method);
  for (let times = 0; times < 2; times += 1) {
    spy.mockImplementationOnce(() => {
      throw fromSystem(error());
    });
  }
  return spy;
}

const TREES = ['copy of a folder', 'merge', 'move of a folder across'] as const;
const ALL = [...TREES, 'move of a file across'] as const;

describe.each([
  { method: 'openFile', kinds: ALL },
  { method: 'openDir', kinds: TREES },
  { method: 'list', kinds: TREES },
  { method: 'mkdir', kinds: TREES },
  { method: 'lstat', kinds: ALL },
  { method: 'renameNoReplace', kinds: [TREES[0]] },
] as const)('while $method fails with ESTALE', ({ method, kinds }) => {
  test.each(kinds)('a %s succeeds', async (kind) => {
    const { box } = twoReplicas(() => new Sandbox('procfd'));
    using there = new Sandbox('procfd', memory());
    new Leases(new MemoryStore()).coordinate(there.root);
    for (const name of ['f', 'd/f', 'd/e/g']) box.file(name, name);
    box.file('to/f', 'old');
    const merging = { ...FAST, intoFolders: false };
    const spy = failing(method, stale);
    await {
      'copy of a folder': () => copy(box.at('d'), box.at('new'), FAST),
      merge: () => copy(box.at('d'), box.at('to'), merging),
      'move of a folder across': () => move(box.at('d'), there.at('d'), FAST),
      'move of a file across': () => move(box.at('f'), there.at('f'), FAST),
    }[kind]();
    expect(spy).toHaveBeenCalled();
    spy.mockRestore();
    const left = ['d/', 'd/e/', 'd/e/g', 'd/f', 'f', 'to/', 'to/f'];
    const moved = kind === 'move of a folder across' ? left.slice(4) : left.filter((name) => name !== 'f');
    const copied = ['new/', 'new/e/', 'new/e/g', 'new/f'];
    const merged = ['to/', 'to/e/', 'to/e/g', 'to/f'];
    const [here, arrived] = {
      'copy of a folder': [[...left.slice(0, 5), ...copied, ...left.slice(5)], []],
      merge: [[...left.slice(0, 5), ...merged], []],
      'move of a folder across': [moved, left.slice(0, 4)],
      'move of a file across': [moved, ['f']],
    }[kind];
    expect(box.tree()).toEqual(here);
    expect(there.tree()).toEqual(arrived);
    if (kind === 'merge') expect(box.text('to/f')).toBe('d/f');
  });
});

/** Has the first call of a method that makes this entry fail, with or without effect. */
function failOnce(method: 'mkdir' | 'rename' | 'renameNoReplace', entry: string, takesEffect: boolean): void {
  const original = Dir.prototype[method] as (...args: unknown[]) => void;
  let hasFailed = false;
  vi.spyOn(Dir.prototype, method).mockImplementation(function (this: Dir, ...args: unknown[]) {
    const fails = !hasFailed && args.at(method === 'mkdir' ? 0 : 2) === entry;
    if (takesEffect || !fails) original.apply(this, args);
    if (!fails) return;
    hasFailed = true;
    throw fromSystem(stale());
  });
}

test('a copy of a folder is complete if what makes its entries takes effect although it fails, whatever may be replaced', async () => {
  const { box } = twoReplicas(() => new Sandbox('procfd'));
  box.file('d/e/f', 'f');
  fs.chmodSync(box.host('d/e'), 0o750);
  failOnce('mkdir', 'e', true);
  failOnce('rename', 'f', true);
  failOnce('renameNoReplace', 'f', true);
  await copy(box.at('d'), box.at('new'), { ...FAST, overwrite: false });
  expect(box.tree('new')).toEqual(['e/', 'e/f']);
  expect(fs.statSync(box.host('new/e')).mode & 0o777).toBe(0o750);
});

test('what is looked up again before a folder is made again is that folder, not the one that is copied', async () => {
  const { box } = twoReplicas(() => new Sandbox('procfd'));
  box.file('d/e/f', 'f');
  const source = fs.statSync(box.host('d')).ino;
  failOnce('mkdir', 'e', false);
  const inSource: boolean[] = [];
  vi.spyOn(Dir.prototype, 'isLocal').mockReturnValue(false);
  const { link } = Dir.prototype;
  vi.spyOn(Dir.prototype, 'link').mockImplementation(function (this: Dir, ...args) {
    if (args[1] === 'e') inSource.push(this.lstat('.')?.ino === source);
    return link.apply(this, args);
  });
  await copy(box.at('d'), box.at('new'), FAST);
  expect(box.tree('new')).toEqual(['e/', 'e/f']);
  expect(inSource).toEqual([false]);
});

test('a file that is not found while it is replaced is copied with its folder, and one that is removed is left out', async () => {
  const { box } = twoReplicas(() => new Sandbox('openat2'));
  box.file('d/f', 'f');
  box.file('d/removed');
  const { openFile } = Dir.prototype;
  let missing = 2;
  vi.spyOn(Dir.prototype, 'openFile').mockImplementation(function (this: Dir, name, ...rest) {
    if (name === 'removed') fs.rmSync(box.host('d/removed'), { force: true });
    if (name === 'f' && missing-- > 0) throw new FenceError('not_found', {});
    return openFile.call(this, name, ...rest);
  });
  vi.spyOn(Dir.prototype, 'isLocal').mockReturnValue(false);
  expect(await copy(box.at('d'), box.at('copied'), FAST)).toMatchObject({ isDirectory: true, skipped: [] });
  expect(box.tree()).toEqual(['copied/', 'copied/f', 'd/', 'd/f']);
});

test('a file that is shown with too small a size is opened again, so that its copy is complete', async () => {
  const { box, roots } = twoReplicas(() => new Sandbox('openat2'));
  vi.spyOn(Dir.prototype, 'isLocal').mockReturnValue(false);
  await writeFile(roots.b, roots.b.parse('d/f'), Buffer.from('content'), FAST);
  const { openFile } = Dir.prototype;
  const opened = vi.spyOn(Dir.prototype, 'openFile').mockImplementation(function (this: Dir, name, ...rest) {
    const file = openFile.call(this, name, ...rest);
    if (name !== 'f' || opened.mock.calls.filter(([name]) => name === 'f').length % 3 === 0) return file;
    vi.spyOn(file, 'read').mockReturnValue(0);
    return Object.defineProperty(file, 'stats', { value: Object.assign(file.stats, { size: 0 }) });
  });
  await copy(box.at('d'), box.at('copied'), FAST);
  await copy(box.at('d/f'), box.at('copied/g'), FAST);
  expect([box.text('copied/f'), box.text('copied/g')]).toEqual(['content', 'content']);
});

/** Has the next system call come late, after another server has got the lease and replaced a file. */
function lateCall(method: 'rename' | 'unlink', replace: () => void): void {
  const original = Dir.prototype[method] as (...args: unknown[]) => void;
  vi.spyOn(Dir.prototype, method).mockImplementationOnce(function (this: Dir, ...args: unknown[]) {
    replace();
    return original.apply(this, args);
  });
}

test.each(['remove', 'remove any', 'move', 'move onto'] as const)(
  'a %s on a condition that comes late leaves what another server has made meanwhile',
  async (kind) => {
    const { box, roots, at } = twoReplicas(() => new Sandbox('procfd'));
    const ifMatch = versionOf(fs.statSync(box.file('f', 'one\n')));
    if (kind === 'move onto') box.file('g', 'g\n');
    lateCall('rename', () => {
      fs.writeFileSync(box.host('new'), 'newer\n');
      fs.renameSync(box.host('new'), box.host('f'));
    });
    const done = {
      remove: () => removeFile(roots.a, at, { ...FAST, ifMatch }),
      'remove any': () => removeEntry(roots.a, at, { ...FAST, ifMatch }),
      move: () => move(box.at('f'), box.at('g'), { ...FAST, ifMatch }),
      'move onto': () => move(box.at('f'), box.at('g'), { ...FAST, ifMatch }),
    }[kind]();
    expect(await outcome(done)).toBe('version_mismatch');
    expect(box.text('f')).toBe('newer\n');
    expect(box.tree()).toEqual(kind === 'move onto' ? ['f', 'g'] : ['f']);
    if (kind === 'move onto') expect(box.text('g')).toBe('g\n');
  },
);

test.each([true, false])('a move on a condition replaces its destination, absent: %s', async (absent) => {
  const { box } = twoReplicas(() => new Sandbox('openat2'));
  const ifMatch = versionOf(fs.statSync(box.file('f', 'one\n')));
  if (!absent) box.file('g', 'g\n');
  const ifDestination = absent ? 'absent' : versionOf(fs.statSync(box.host('g')));
  await move(box.at('f'), box.at('g'), { ...FAST, ifMatch, ifDestination });
  expect(box.tree()).toEqual(['g']);
  expect(box.text('g')).toBe('one\n');
});

test('a move on a condition onto another name of the same file leaves that name alone', async () => {
  const { box } = twoReplicas(() => new Sandbox('openat2'));
  box.file('f', 'one\n');
  fs.linkSync(box.host('f'), box.host('g'));
  await move(box.at('f'), box.at('g'), { ...FAST, ifMatch: versionOf(fs.statSync(box.host('f'))) });
  expect(box.tree()).toEqual(['g']);
});

test('a move to a destination that has to be absent does not replace one that was made since', async () => {
  const { box } = twoReplicas(() => new Sandbox('openat2'));
  box.file('f', 'one\n');
  lateCall('rename', () => void box.file('g', 'newer\n'));
  expect(await outcome(move(box.at('f'), box.at('g'), { ...FAST, ifDestination: 'absent' }))).toBe('version_mismatch');
  expect([box.text('f'), box.text('g')]).toEqual(['one\n', 'newer\n']);
  expect(box.tree()).toEqual(['f', 'g']);
});

test('a move across file systems to a destination that has to be absent does not replace one that was made since', async () => {
  const { box } = twoReplicas(() => new Sandbox('openat2'));
  using there = new Sandbox('openat2', memory());
  new Leases(new MemoryStore()).coordinate(there.root);
  box.file('f', 'one\n');
  const { place } = PlacedCopy;
  vi.spyOn(PlacedCopy, 'place').mockImplementationOnce((...args) => {
    there.file('f', 'newer\n');
    return place(...args);
  });
  const moved = move(box.at('f'), there.at('f'), { ...FAST, ifDestination: 'absent' });
  expect(await outcome(moved)).toBe('version_mismatch');
  expect([box.text('f'), there.text('f')]).toEqual(['one\n', 'newer\n']);
  expect([box.tree(), there.tree()]).toEqual([['f'], ['f']]);
});

test('a move across file systems is made again if another server edits the source before it is removed', async () => {
  const { box, roots, at } = twoReplicas(() => new Sandbox('openat2'));
  using there = new Sandbox('openat2', memory());
  new Leases(new MemoryStore()).coordinate(there.root);
  box.file('f', 'one\n');
  vi.spyOn(Dir.prototype, 'sync').mockImplementationOnce(async () => {
    // The copy has its name. The process is stopped for longer than its lease lasts.
    await sleep(SHORT_MS * 2);
    await replaceText(roots.b, at, { oldText: 'one', newText: 'two' }, FAST);
  });
  await move(box.at('f'), there.at('f'));
  expect(box.tree()).toEqual([]);
  expect(there.text('f')).toBe('two\n');
});

test.each(['remove', 'move'] as const)(
  'a %s does not keep others of its machine waiting while it waits',
  async (kind) => {
    const { box, a, roots, at } = twoReplicas(() => new Sandbox('openat2'));
    for (const name of ['f', 'g', 'h']) box.file(name, name);
    const stopped = withResolvers();
    a.stop = stopped.promise;
    const done = kind === 'remove' ? removeFile(roots.a, at, FAST) : move(box.at('f'), box.at('i'), FAST);
    await expect.poll(() => a.stop === undefined).toBe(true);
    await removeFile(roots.b, roots.b.parse('g'), FAST);
    await move(box.at('h', roots.b), box.at('j', roots.b), FAST);
    expect(box.tree()).toEqual(['f', 'j']);
    stopped.resolve(undefined);
    await done;
    expect(box.tree()).toEqual(kind === 'remove' ? ['j'] : ['i', 'j']);
  },
);

test('an edit is made again if the disks no longer have the file that it would replace', async () => {
  const { box, roots, at } = twoReplicas(() => new Sandbox('openat2'));
  box.file('f', 'one\n');
  // Another server goes on without the store, and this machine still shows the file that it has replaced.
  const isStored = vi.spyOn(DescriptorDir.prototype, 'isStored').mockReturnValueOnce(false);
  await replaceText(roots.a, at, { oldText: 'one', newText: 'two' }, FAST);
  expect(isStored).toHaveBeenCalledTimes(2);
  expect(box.text('f')).toBe('two\n');
});

test('a removal that may have happened is not tried again', async () => {
  const { box, roots, at } = twoReplicas(() => new Sandbox('openat2'));
  box.file('f');
  const unlink = vi.spyOn(Dir.prototype, 'unlink').mockImplementationOnce(() => {
    throw stale();
  });
  expect(await outcome(removeFile(roots.a, at, FAST))).toBe('io_error');
  expect(unlink).toHaveBeenCalledTimes(1);
});

test('a move that landed has succeeded and its leases end, even if nobody can see what it has left', async () => {
  const { box, b, roots } = twoReplicas(() => new Sandbox('openat2'));
  box.file('f', 'f');
  const { rename } = Dir.prototype;
  vi.spyOn(Dir.prototype, 'rename').mockImplementationOnce(function (this: Dir, ...args) {
    rename.apply(this, args);
    vi.spyOn(Dir.prototype, 'lstat').mockImplementationOnce(() => {
      throw fromSystem(stale());
    });
  });
  await move(box.at('f'), box.at('g'), FAST);
  expect(box.text('g')).toBe('f');
  const keys = ['f', 'g'].map((name) => `${fs.statSync(box.inside).ino}/${name}`);
  const granted = await Promise.all(keys.map((key) => b.acquireLease(key, SHORT_MS)));
  // What the one has left is not known, and of the other that it is there.
  expect(granted).toMatchObject([
    { granted: true, note: '' },
    { granted: true, note: expect.stringMatching(/ 1 /) },
  ]);
  expect(roots.a).toBe(box.root);
});

test('an edit does not wait for the file that a server has left on a local disk, if another program has changed it', async () => {
  const { box, roots, at } = twoReplicas(() => new Sandbox('openat2'));
  await writeFile(roots.a, at, Buffer.from('one'), FAST);
  box.file('f', 'two and more');
  const lookedUp = vi.spyOn(Dir.prototype, 'link');
  await replaceText(roots.b, at, { oldText: 'two', newText: 'three' }, FAST);
  expect(box.text('f')).toBe('three and more');
  expect(lookedUp).not.toHaveBeenCalled();
});

test('calls of one server hand a lease on in their order, but let another server have it before long', async () => {
  const { box, a, b, roots, at } = twoReplicas(() => new Sandbox('openat2'), { maxLeaseMs: LONG_MS });
  const append = (root: typeof roots.a, line: string) =>
    writeFile(root, at, Buffer.from(`${line}\n`), { ...FAST, mode: 'append' });
  const lines = Array.from({ length: 40 }, (_, index) => `a${index}`);
  await Promise.all(lines.map((line) => append(roots.a, line)));
  expect(box.text('f')).toBe(`${lines.join('\n')}\n`);
  // The store was asked for a few of them only, but each holder has a token of its own.
  expect(a.asked.length).toBeLessThan(lines.length / 4);
  expect(new Set(a.tokens).size).toBe(lines.length);
  // One server never stops appending.
  let isOver = false;
  const endless = async (): Promise<void> => {
    while (!isOver) await append(roots.a, 'more');
  };
  const running = [endless(), endless(), endless()];
  await append(roots.b, 'b');
  isOver = true;
  await Promise.all(running);
  expect(b.asked).toHaveLength(1);
  expect(box.text('f')).toContain('more\nb\n');
});

test('whoever holds a lease after one that failed, or was cancelled while it waited, gets it', async () => {
  const { box, roots, at } = twoReplicas(() => new Sandbox('openat2'));
  box.file('f', 'one');
  const edit = (oldText: string, newText: string, signal = DEFAULT_CONTEXT.signal) =>
    outcome(replaceText(roots.a, at, { oldText, newText }, { ...FAST, signal }));
  const cancelled = AbortSignal.abort();
  const outcomes = [edit('no', 'x'), edit('one', 'two'), edit('two', 'x', cancelled), edit('two', 'three')];
  expect(await Promise.all(outcomes)).toEqual(['text_not_found', 'ok', 'cancelled', 'ok']);
  expect(box.text('f')).toBe('three');
  expect(box.tree()).toEqual(['f']);
});

test('new files in new folders are created once', async () => {
  const { box, roots } = twoReplicas(() => new Sandbox('openat2'));
  const create = (root: typeof roots.a) =>
    outcome(writeFile(root, root.parse('new/f'), Buffer.from('x'), { ...FAST, mode: 'create_only' }));
  expect((await Promise.all([roots.a, roots.b].map(create))).sort()).toEqual(['already_exists', 'ok']);
  expect(box.tree()).toEqual(['new/', 'new/f']);
});

test('without the store, edits and appends are refused at once after seconds, overwrites and new files go on', {
  timeout: 30_000,
}, async () => {
  using box = new Sandbox('openat2');
  new Leases(GONE).coordinate(box.root);
  box.file('f', 'one\n');
  const at = box.root.parse('f');
  const edit = () => replaceText(box.root, at, { oldText: 'one', newText: 'two' }, FAST);
  expect(await outcome(edit)).toBe('coordination_unavailable');
  const started = performance.now();
  expect(await outcome(edit)).toBe('coordination_unavailable');
  const append = { ...FAST, mode: 'append' } as const;
  expect(await outcome(writeFile(box.root, at, Buffer.from('x'), append))).toBe('coordination_unavailable');
  expect(box.text('f')).toBe('one\n');
  expect(await outcome(writeFile(box.root, at, Buffer.from('three\n'), FAST))).toBe('ok');
  const create = { ...FAST, mode: 'create_only' } as const;
  expect(await outcome(writeFile(box.root, box.root.parse('g'), Buffer.from('g'), create))).toBe('ok');
  expect(await outcome(copy(box.at('g'), box.at('h'), FAST))).toBe('ok');
  expect(await outcome(move(box.at('h'), box.at('i'), FAST))).toBe('ok');
  expect(await outcome(removeFile(box.root, box.root.parse('i'), FAST))).toBe('ok');
  expect(performance.now() - started).toBeLessThan(3_000);
  expect(box.text('f')).toBe('three\n');
  expect(box.tree()).toEqual(['f', 'g']);
});

test('without the store, calls that waited together are refused with the path that each was given', {
  timeout: 30_000,
}, async () => {
  using box = new Sandbox('openat2');
  new Leases(GONE).coordinate(box.root);
  box.file('f', 'one\n');
  box.link('f', 'link');
  const pathInError = (path: string) =>
    replaceText(box.root, box.root.parse(path), { oldText: 'one', newText: 'two' }, FAST).catch(({ path }) => path);
  const paths = ['f', 'link', './f'];
  expect(await Promise.all(paths.map(pathInError))).toEqual(paths);
});

test('without the store, nothing is changed on the condition that a file has a version, except that it is absent', {
  timeout: 30_000,
}, async () => {
  using box = new Sandbox('openat2');
  new Leases(GONE).coordinate(box.root);
  const { root } = box;
  const at = root.parse('f');
  const ifMatch = versionOf(fs.statSync(box.file('f', 'one\n')));
  box.file('g');
  const [f, g, h] = ['f', 'g', 'h'].map((name) => box.at(name)) as [RootPath, RootPath, RootPath];
  const refused = {
    overwrite: () => writeFile(root, at, Buffer.from('x'), { ...FAST, ifMatch }),
    'copy onto': () => copy(g, f, { ...FAST, ifMatch }),
    remove: () => removeFile(root, at, { ...FAST, ifMatch }),
    'remove any': () => removeEntry(root, at, { ...FAST, ifMatch }),
    move: () => move(f, h, { ...FAST, ifMatch }),
    'move onto': () => move(g, f, { ...FAST, ifDestination: ifMatch }),
  };
  for (const [kind, work] of Object.entries(refused)) {
    expect([kind, await outcome(work)]).toEqual([kind, 'coordination_unavailable']);
  }
  expect(box.text('f')).toBe('one\n');
  const absent = { ...FAST, ifMatch: 'absent' };
  expect(await outcome(writeFile(root, root.parse('new'), Buffer.from('x'), absent))).toBe('ok');
  expect(await outcome(writeFile(root, at, Buffer.from('x'), absent))).toBe('version_mismatch');
  expect(await outcome(copy(g, box.at('copied'), absent))).toBe('ok');
  expect(box.tree()).toEqual(['copied', 'f', 'g', 'new']);
});

test('a store that is lost before the last check stops an edit, and not an overwrite', {
  timeout: 30_000,
}, async () => {
  using box = new Sandbox('openat2');
  const store = new MemoryStore();
  const losing: LeaseStore = {
    acquireLease: (key, ttlMs) => store.acquireLease(key, ttlMs),
    renewLease: gone,
    leaseNote: (key) => store.leaseNote(key),
    releaseLease: (...release) => store.releaseLease(...release),
    handOnLease: gone,
  };
  new Leases(losing).coordinate(box.root);
  box.file('f', 'one\n');
  const at = box.root.parse('f');
  expect(await outcome(replaceText(box.root, at, { oldText: 'one', newText: 'two' }, FAST))).toBe(
    'coordination_unavailable',
  );
  expect(box.text('f')).toBe('one\n');
  expect(await outcome(writeFile(box.root, at, Buffer.from('two\n'), FAST))).toBe('ok');
  expect(box.tree()).toEqual(['f']);
});

function withResolvers() {
  let resolve: (value: unknown) => void = () => {};
  const promise = new Promise((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
