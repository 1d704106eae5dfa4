import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { BoundServer } from '../support/bound-server.ts';

/** The paths that a listing shows. */
async function paths(box: BoundServer<'classic'>, args: object): Promise<string[]> {
  const { entries } = await box.ok('list', { path: '.', ...args });
  return entries.map(({ path }: { path: string }) => path);
}

async function tree(): Promise<BoundServer<'classic'>> {
  const box = await BoundServer.start('classic');
  for (const name of ['b.txt', 'a.md', '.env', 'src/x.ts', 'src/.cache/y.ts', 'src/deep/z.ts', '.git/config'])
    box.file(name);
  box.folder('empty');
  return box;
}

test('filesystem-server/list: every field of the entries', async () => {
  await using box = await BoundServer.start('classic');
  const modified = new Date('2024-04-10T15:30:00Z');
  fs.utimesSync(box.file('path/to/example.txt', 'x'.repeat(1024)), 0, modified);
  fs.utimesSync(box.folder('path/to/documents'), 0, modified);
  box.link('example.txt', 'path/to/link');
  fs.lutimesSync(box.host('path/to/link'), 0, modified);
  const iso = '2024-04-10T15:30:00.000Z';
  expect(await box.ok('list', { path: 'path/to' })).toEqual({
    entries: [
      { name: 'documents', path: 'path/to/documents', type: 'directory', modified: iso, is_hidden: false },
      { name: 'example.txt', path: 'path/to/example.txt', type: 'file', size: 1024, modified: iso, is_hidden: false },
      { name: 'link', path: 'path/to/link', type: 'symlink', modified: iso, is_hidden: false },
    ],
  });
  expect(await box.ok('list', { path: 'path/to', metadata: false, pattern: 'e*' })).toEqual({
    entries: [{ name: 'example.txt', path: 'path/to/example.txt', type: 'file', is_hidden: false }],
  });
});

describe('filesystem-server/list: what is listed', () => {
  test.each([
    [{}, ['a.md', 'b.txt', 'empty', 'src']],
    [{ path: '' }, ['a.md', 'b.txt', 'empty', 'src']],
    [{ path: 'src/..' }, ['a.md', 'b.txt', 'empty', 'src']],
    [{ path: 'empty' }, []],
    [{ path: 'src' }, ['src/deep', 'src/x.ts']],
    [{ include_hidden: true }, ['.env', '.git', 'a.md', 'b.txt', 'empty', 'src']],
    [{ recursive: true }, ['a.md', 'b.txt', 'empty', 'src', 'src/deep', 'src/deep/z.ts', 'src/x.ts']],
    [{ recursive: true, pattern: '*.ts' }, ['src/deep/z.ts', 'src/x.ts']],
    [{ recursive: true, pattern: '*.ts', include_hidden: true }, ['src/.cache/y.ts', 'src/deep/z.ts', 'src/x.ts']],
    [{ recursive: true, pattern: 'src/*.ts' }, ['src/x.ts']],
    [{ recursive: true, pattern: 'deep/**', path: 'src' }, ['src/deep/z.ts']],
    [{ recursive: true, pattern: '{a,x}.*' }, ['a.md', 'src/x.ts']],
    [{ pattern: '*.ts' }, []],
    [{ pattern: '?.[mt]*' }, ['a.md', 'b.txt']],
    [{ pattern: '.e*' }, []],
    [{ pattern: '.e*', include_hidden: true }, ['.env']],
    [{ path: '.git' }, ['.git/config']],
  ])('%j', async (args, expected) => {
    await using box = await tree();
    expect(await paths(box, args)).toEqual(expected);
  });
});

test('filesystem-server/list: hidden is told of each entry', async () => {
  await using box = await tree();
  const { entries } = await box.ok('list', {
    path: '.',
    include_hidden: true,
    recursive: true,
    pattern: '{.*,config}',
  });
  const hidden = entries.map((entry: { path: string; is_hidden: boolean }) => [entry.path, entry.is_hidden]);
  expect(hidden).toEqual([
    ['.env', true],
    ['.git', true],
    ['.git/config', false],
    ['src/.cache', true],
  ]);
});

test('filesystem-server/list: paths come in code point order, and every name can be used', async () => {
  await using box = await BoundServer.start('classic');
  const names = ['a\\b', 'A', 'a', '\uff01', '\u{1f600}', 'new\nline', '%2e', '-x', '*'];
  for (const name of names) box.file(name);
  const listed = await paths(box, {});
  expect(listed).toEqual(['%2e', '*', '-x', 'A', 'a', 'a\\b', 'new\nline', '\uff01', '\u{1f600}']);
  for (const path of listed) expect(await box.code('read', { path })).toBe('ok');
});

test('filesystem-server/list: links are listed, never entered; a link as path is followed', async () => {
  await using box = await BoundServer.start('classic');
  box.file('real/f');
  box.link('real', 'in');
  box.link('../outside', 'out');
  expect(await paths(box, { recursive: true })).toEqual(['in', 'out', 'real', 'real/f']);
  expect(await paths(box, { path: 'in' })).toEqual(['in/f']);
});

test('filesystem-server/list: a listing beyond what a result can carry is cut and says so', async () => {
  await using box = await BoundServer.start('classic');
  const deep = ['a', 'b', 'c'].map((name) => name.repeat(250)).join('/');
  const folder = box.folder(deep);
  const name = (number: number) => String(number).padEnd(250, '-');
  for (let i = 1000; i < 5000; i += 1) fs.writeFileSync(`${folder}/${name(i)}`, '');
  const many = await box.ok('list', { path: deep });
  expect(many.truncated).toBe(true);
  expect(many.entries.length).toBeGreaterThan(2000);
  expect(many.entries.at(0).name).toBe(name(1000));
  const few = await box.ok('list', { path: deep, pattern: '49*' });
  expect(few.entries).toHaveLength(100);
  expect(few).not.toHaveProperty('truncated');
});

describe('filesystem-server/info', () => {
  test('every field of the response', async () => {
    await using box = await BoundServer.start('classic');
    const modified = new Date('2024-04-10T15:30:00Z');
    fs.utimesSync(box.file('path/to/example.txt', 'x'.repeat(1024)), new Date('2024-04-13T10:45:00Z'), modified);
    const { created, ...rest } = await box.ok('info', { path: 'path/./to/example.txt' });
    expect(rest).toEqual({
      exists: true,
      type: 'file',
      name: 'example.txt',
      path: 'path/to/example.txt',
      size: 1024,
      modified: '2024-04-10T15:30:00.000Z',
      accessed: '2024-04-13T10:45:00.000Z',
      permissions: { readable: true, writable: true, executable: false },
      is_hidden: false,
    });
    expect(created).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  test('folders, the root, hidden and executable files', async () => {
    await using box = await BoundServer.start('classic');
    box.folder('.d');
    box.file('run', '', 0o755);
    expect(await box.ok('info', { path: '.d' })).toMatchObject({ type: 'directory', name: '.d', is_hidden: true });
    expect(await box.ok('info', { path: '' })).toMatchObject({
      type: 'directory',
      name: '.',
      path: '.',
      is_hidden: false,
    });
    expect(await box.ok('info', { path: 'run' })).toMatchObject({ permissions: { executable: true } });
  });

  test.each(['none', 'no/ne', '.none', 'f/x'])(
    'a missing path (%s) does not exist, which is no error',
    async (path) => {
      await using box = await BoundServer.start('classic');
      box.file('f');
      const name = path.split('/').at(-1);
      expect(await box.ok('info', { path })).toEqual({ exists: false, name, path, is_hidden: path === '.none' });
    },
  );

  test('links: followed inside, themselves where they lead nowhere', async () => {
    await using box = await BoundServer.start('classic');
    box.file('real', 'four');
    box.link('real', 'in');
    box.link('none', 'dangling');
    box.link('no/ne', 'lost');
    expect(await box.ok('info', { path: 'in' })).toMatchObject({ type: 'file', size: 4, name: 'in', path: 'in' });
    for (const path of ['dangling', 'lost']) {
      expect(await box.ok('info', { path })).toMatchObject({
        exists: true,
        type: 'symlink',
        permissions: { readable: false, writable: false, executable: false },
      });
    }
  });
});
