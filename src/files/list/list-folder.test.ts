import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { cannotDropPrivileges, runChild } from '../../../tests/support/child.ts';
import { parseCallerPath, temporaryName } from '../../fence/index.ts';
import { memory, onEveryBackend, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { listFolder } from './list-folder.ts';

const list = ({ root }: Sandbox, raw = '.', context = DEFAULT_CONTEXT) =>
  listFolder(root, parseCallerPath(raw), context);

onEveryBackend((open) => {
  test('lists direct children, hidden ones included, sorted by code point', async () => {
    using box = open();
    for (const name of ['b', 'B', '.hidden', 'a', '\u{1f600}', '\uff01', '\u00e9', 'a b', '%2e%2e']) box.file(name);
    box.file('folder/deeper');
    const names = (await list(box)).map((entry) => entry.name);
    expect(names).toEqual(['%2e%2e', '.hidden', 'B', 'a', 'a b', 'b', 'folder', '\u00e9', '\uff01', '\u{1f600}']);
  });

  test('reports the type, size and time of each entry', async () => {
    using box = open();
    box.file('f', '12345');
    box.folder('d');
    execFileSync('mkfifo', [box.host('p')]);
    const when = new Date('2020-02-03T04:05:06.789Z');
    fs.utimesSync(box.host('f'), when, when);
    const [d, f, p] = await list(box);
    expect(f).toEqual({ name: 'f', type: 'file', size: 5, modifiedMs: when.getTime() });
    expect(d).toMatchObject({ name: 'd', type: 'directory' });
    expect(p).toMatchObject({ name: 'p', type: 'other' });
  });

  test('reports what links lead to, without opening it', async () => {
    using box = open();
    box.file('sub/f');
    execFileSync('mkfifo', [box.host('sub/p')]);
    const targets = {
      file: 'f',
      folder: '.',
      up: '..',
      absolute: box.host('sub/f'),
      pipe: 'p',
      outward: '../../outside/secret',
      outwardAbsolute: '/etc/passwd',
      outwardDangling: '/nowhere/at/all',
      dangling: 'none',
      deepDangling: 'no/ne',
      throughFile: 'f/x',
      self: 'self',
      circleA: 'circleB',
      circleB: 'circleA',
      viaLink: 'outward',
    };
    for (const [name, target] of Object.entries(targets)) box.link(target, `sub/${name}`);
    const found = (await list(box, 'sub')).filter((entry) => entry.type === 'symlink');
    expect(Object.fromEntries(found.map((entry) => [entry.name, entry.targetType]))).toEqual({
      file: 'file',
      folder: 'directory',
      up: 'directory',
      absolute: 'file',
      pipe: 'other',
      outward: 'external',
      outwardAbsolute: 'external',
      outwardDangling: 'external',
      dangling: 'missing',
      deepDangling: 'missing',
      throughFile: 'missing',
      self: 'missing',
      circleA: 'missing',
      circleB: 'missing',
      viaLink: 'external',
    });
  });

  test('names that are not UTF-8 or contain a newline do not hide other entries', async () => {
    using box = open();
    fs.writeFileSync(Buffer.concat([Buffer.from(`${box.inside}/bad-`), Buffer.from([0xff, 0xfe])]), '12');
    box.file('new\nline', '1');
    box.file('plain', '123');
    const found = (await list(box)).map(({ name, size }) => [name, size]);
    expect(found).toEqual([
      ['bad-\ufffd\ufffd', 2],
      ['new\nline', 1],
      ['plain', 3],
    ]);
  });

  test('a link whose name is not UTF-8 is not taken for the entry that its display name names', async () => {
    using box = open();
    box.file('f');
    box.folder('bad-\ufffd');
    fs.symlinkSync('f', Buffer.concat([Buffer.from(`${box.inside}/bad-`), Buffer.from([0xff])]));
    const links = (await list(box)).filter(({ type }) => type === 'symlink');
    expect(links).toMatchObject([{ name: 'bad-\ufffd', targetType: 'missing' }]);
  });

  test('times equal those of stat, to the millisecond', async () => {
    using box = open();
    for (const fraction of [0.0001, 0.0005, 0.0006, 0.9996]) {
      fs.utimesSync(box.file(`f${fraction}`), 1, 1_700_000_000 + fraction);
    }
    const listed = (await list(box)).map(({ name, modifiedMs }) => [name, new Date(modifiedMs)]);
    expect(listed).toEqual(listed.map(([name]) => [name, fs.statSync(box.host(String(name))).mtime]));
  });

  test('temporary files are not listed, also next to names that are not UTF-8', async () => {
    using box = open();
    box.file(temporaryName());
    box.file('f');
    expect((await list(box)).map((entry) => entry.name)).toEqual(['f']);
    fs.writeFileSync(Buffer.concat([Buffer.from(`${box.inside}/`), Buffer.from([0xff])]), '');
    expect((await list(box)).map((entry) => entry.name)).toEqual(['f', '\ufffd']);
  });

  test('only folders can be listed', async () => {
    using box = open();
    box.file('f');
    box.link('f', 'to-file');
    expect(await outcome(list(box, 'f'))).toBe('not_directory');
    expect(await outcome(list(box, 'to-file'))).toBe('not_directory');
    expect(await outcome(list(box, 'none'))).toBe('not_found');
    expect(await list(box, '')).toHaveLength(2);
    expect(await list(box, '/')).toHaveLength(2);
  });
});

test('listing 20,000 entries yields to other work and can be aborted', async () => {
  using box = new Sandbox('openat2', memory());
  for (let i = 0; i < 20_000; i += 1) fs.closeSync(fs.openSync(`${box.inside}/${i}`, 'w'));
  let ticks = 0;
  let running = true;
  const tick = () => {
    ticks += 1;
    if (running) setImmediate(tick);
  };
  setImmediate(tick);
  const entries = await list(box);
  running = false;
  expect(entries).toHaveLength(20_000);
  expect(ticks).toBeGreaterThan(2);
  const stop = new AbortController();
  setImmediate(() => stop.abort());
  expect(await outcome(list(box, '.', { signal: stop.signal, progress: () => {} }))).toBe('cancelled');
});

test.skipIf(cannotDropPrivileges)(
  `the error for an unreadable folder carries its path (${cannotDropPrivileges ?? 'as nobody'})`,
  async () => {
    using box = new Sandbox('openat2');
    box.folder('closed', 0o711);
    const script = `
    const error = await listFolder(root, path('closed'), DEFAULT_CONTEXT).catch((e) => e);
    answer({ code: error.code, path: error.path, root: error.root });`;
    expect(await runChild(script, { folder: box.inside, unprivileged: true })).toEqual({
      code: 'permission_denied',
      path: 'closed',
      root: 'workspace',
    });
  },
);
