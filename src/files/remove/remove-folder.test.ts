import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { cannotDropPrivileges, runChild } from '../../../tests/support/child.ts';
import { MemoryStore } from '../../cluster/memory-store.ts';
import { Dir, parseCallerPath, temporaryName } from '../../fence/index.ts';
import { memory, onEveryBackend, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { Leases } from '../lease/leases.ts';
import { removeFolder } from './remove-folder.ts';

const remove = ({ root }: Sandbox, raw: string, context = DEFAULT_CONTEXT) =>
  removeFolder(root, parseCallerPath(raw), {}, context);

onEveryBackend((open, backend) => {
  test('removes the whole tree and counts the entries', async () => {
    using box = open();
    box.file('d/a/b/f');
    box.file('d/.hidden');
    box.file(`d/a/${temporaryName()}`);
    box.folder('d/empty');
    execFileSync('mkfifo', [box.host('d/p')]);
    fs.writeFileSync(Buffer.concat([Buffer.from(`${box.inside}/d/`), Buffer.from([0xff])]), '');
    box.file('kept');
    expect(await remove(box, 'd')).toEqual({ entries: 9 });
    expect(box.tree()).toEqual(['kept']);
  });

  test.skipIf(backend === 'portable')(
    'enters folders whose names are not UTF-8 (macOS and Windows have none)',
    async () => {
      using box = open();
      box.folder('d');
      fs.mkdirSync(Buffer.concat([Buffer.from(`${box.inside}/d/`), Buffer.from([0xff, 0x2f, 0xfe])]), {
        recursive: true,
      });
      expect(await remove(box, 'd')).toEqual({ entries: 3 });
      expect(box.tree()).toEqual([]);
    },
  );

  test('keeps what others put into the folder meanwhile', async () => {
    using box = open();
    box.file('d/f');
    const progress = (removed: number) => {
      if (removed === 1) box.file('d/late');
    };
    expect(await outcome(remove(box, 'd', { ...DEFAULT_CONTEXT, progress }))).toBe('not_empty');
    expect(box.tree()).toEqual(['d/', 'd/late']);
  });

  test('on a shared file system, removes what others put into the folder meanwhile, unless they go on', async () => {
    using box = open();
    new Leases(new MemoryStore()).coordinate(box.root);
    const isLocal = vi.spyOn(Dir.prototype, 'isLocal').mockReturnValue(false);
    onTestFinished(() => isLocal.mockRestore());
    box.file('d/f');
    let left = 2;
    const progress = () => {
      if (left > 0) box.file(`d/late-${left}`);
      left -= 1;
    };
    expect(await remove(box, 'd', { ...DEFAULT_CONTEXT, progress })).toEqual({ entries: 4 });
    expect(box.tree()).toEqual([]);
    box.file('d/f');
    left = 100;
    expect(await outcome(remove(box, 'd', { ...DEFAULT_CONTEXT, progress }))).toBe('not_empty');
    expect(left).toBe(97);
  });

  test('removes links, never their targets', async () => {
    using box = open();
    box.file('kept/f');
    box.link('../kept', 'd/inside');
    box.link('../../outside', 'd/outside');
    box.link('../../outside/secret', 'd/secret');
    box.link(box.outside, 'd/absolute');
    box.link('..', 'd/up');
    box.link('.', 'd/self');
    expect(await remove(box, 'd')).toEqual({ entries: 7 });
    expect(box.tree()).toEqual(['kept/', 'kept/f']);
    expect(fs.readdirSync(box.outside)).toEqual(['secret']);
  });

  test('refuses links to folders, files, the root and missing entries', async () => {
    using box = open();
    box.file('d/f');
    box.link('d', 'link');
    box.link('../outside', 'out');
    expect(await outcome(remove(box, 'link'))).toBe('not_directory');
    expect(await outcome(remove(box, 'out'))).toBe('not_directory');
    expect(await outcome(remove(box, 'd/f'))).toBe('not_directory');
    for (const raw of ['', '.', '/', 'd/..', './']) expect(await outcome(remove(box, raw))).toBe('root_itself');
    expect(await outcome(remove(box, 'none'))).toBe('not_found');
    expect(box.tree()).toEqual(['d/', 'd/f', 'link -> d', 'out -> ../outside']);
  });

  test('works below a link that stays inside', async () => {
    using box = open();
    box.file('real/d/f');
    box.link('real', 'link');
    await remove(box, 'link/d');
    expect(box.tree()).toEqual(['link -> real', 'real/']);
  });

  test('two concurrent removals both succeed', async () => {
    using box = open();
    for (let i = 0; i < 300; i += 1) box.file(`d/${i % 10}/${i}/f`);
    const eager = () => removeFolder(box.root, parseCallerPath('d'), {}, { ...DEFAULT_CONTEXT, progress: () => {} });
    const outcomes = await Promise.all([eager(), eager(), eager()].map((each) => outcome(each)));
    expect(outcomes).toContain('ok');
    expect(outcomes.every((each) => each === 'ok' || each === 'not_found')).toBe(true);
    expect(box.tree()).toEqual([]);
  });
});

test('entries removed concurrently are ignored', async () => {
  using box = new Sandbox('openat2');
  for (const name of ['a', 'b', 'c']) box.file(`d/${name}/f`);
  // The other folders are removed as soon as the first entry is gone.
  let left = true;
  const progress = () => {
    if (left) for (const name of fs.readdirSync(box.host('d'))) fs.rmSync(box.host('d', name), { recursive: true });
    left = false;
  };
  expect(await outcome(remove(box, 'd', { ...DEFAULT_CONTEXT, progress }))).toBe('ok');
  expect(box.tree()).toEqual([]);
});

describe('large trees', () => {
  test.each(['openat2', 'procfd'] as const)('2,000 levels deep (%s)', async (backend) => {
    using box = new Sandbox(backend, memory());
    let dir: Dir = box.root.openDir(parseCallerPath('.'));
    for (let i = 0; i < 2000; i += 1) {
      dir.mkdir('deep');
      const next = dir.openDir('deep');
      dir[Symbol.dispose]();
      dir = next;
    }
    dir[Symbol.dispose]();
    expect(await remove(box, 'deep')).toEqual({ entries: 2000 });
    expect(box.tree()).toEqual([]);
  });

  test('removing 20,000 entries yields to other work and can be aborted', async () => {
    using box = new Sandbox('openat2', memory());
    for (const folder of ['d', 'e']) {
      box.folder(folder);
      for (let i = 0; i < 10_000; i += 1) fs.closeSync(fs.openSync(path.join(box.host(folder), `${i}`), 'w'));
    }
    const stop = new AbortController();
    setImmediate(() => stop.abort());
    expect(await outcome(remove(box, 'd', { signal: stop.signal, progress: () => {} }))).toBe('cancelled');
    const left = fs.readdirSync(box.host('d')).length;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(10_000);
    expect(await remove(box, 'd')).toEqual({ entries: left + 1 });
    expect(await remove(box, 'e')).toEqual({ entries: 10_001 });
  });
});

test.skipIf(cannotDropPrivileges)(
  `an entry that may not be removed stays, and raises an error (${cannotDropPrivileges ?? 'as nobody'})`,
  async () => {
    using box = new Sandbox('openat2');
    box.file('d/f');
    box.folder('own/theirs', 0o700);
    box.file('own/theirs/f');
    fs.chownSync(box.host('own'), 65534, 65534);
    const script = `
    const tries = ['d', 'own'].map((name) => outcome(removeFolder(root, path(name), {}, DEFAULT_CONTEXT)));
    answer(await Promise.all(tries));`;
    const outcomes = await runChild(script, { folder: box.inside, unprivileged: true });
    expect(outcomes).toEqual(['permission_denied', 'permission_denied']);
    expect(box.tree()).toEqual(['d/', 'd/f', 'own/', 'own/theirs/', 'own/theirs/f']);
  },
);

test('without recursive only an empty folder is removed', async () => {
  using box = new Sandbox('openat2');
  box.file('full/f');
  box.folder('empty');
  const only = (raw: string) => removeFolder(box.root, parseCallerPath(raw), { recursive: false }, DEFAULT_CONTEXT);
  expect(await only('empty')).toEqual({ entries: 1 });
  expect(await outcome(only('full'))).toBe('not_empty');
  expect(await outcome(only('.'))).toBe('root_itself');
  expect(await outcome(only('full/f'))).toBe('not_directory');
  expect(box.tree()).toEqual(['full/', 'full/f']);
});

test('keepGoing stops on abort', async () => {
  using box = new Sandbox('openat2');
  for (let i = 0; i < 5; i += 1) box.file(`d/${i}/f`);
  const stop = new AbortController();
  const context = { signal: stop.signal, progress: () => stop.abort() };
  const removing = removeFolder(box.root, parseCallerPath('d'), { keepGoing: true }, context);
  expect(await outcome(removing)).toBe('cancelled');
  expect(box.exists('d')).toBe(true);
});

test.skipIf(cannotDropPrivileges)(
  `keepGoing removes everything else and raises the first failure (${cannotDropPrivileges ?? 'as nobody'})`,
  async () => {
    using box = new Sandbox('openat2');
    fs.chmodSync(box.inside, 0o777);
    for (const name of ['d/a/closed/f', 'd/a/g', 'd/m', 'd/z/f']) box.file(name);
    execFileSync('chown', ['-R', '65534:65534', box.host('d')]);
    fs.chmodSync(box.host('d/a/closed'), 0o555);
    const script = `answer(await outcome(removeFolder(root, path('d'), { keepGoing: true }, DEFAULT_CONTEXT)));`;
    expect(await runChild(script, { folder: box.inside, unprivileged: true })).toBe('permission_denied');
    expect(box.tree()).toEqual(['d/', 'd/a/', 'd/a/closed/', 'd/a/closed/f']);
  },
);
