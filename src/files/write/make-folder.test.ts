import fs from 'node:fs';
import { expect, test } from 'vitest';
import { parseCallerPath } from '../../fence/index.ts';
import { onEveryBackend, outcome, type Sandbox } from '../../fence/sandbox.fixture.ts';
import { makeFolder } from './make-folder.ts';

const make = ({ root }: Sandbox, raw: string, options?: { makeParents: boolean }) =>
  makeFolder(root, parseCallerPath(raw), options);

onEveryBackend((open) => {
  test('creates the folder and its parents, with mode 755', async () => {
    using box = open();
    const before = process.umask(0o022);
    expect(await make(box, 'a/b/c')).toEqual({ created: true });
    process.umask(before);
    expect(['a', 'a/b', 'a/b/c'].map((name) => box.mode(name))).toEqual(['755', '755', '755']);
  });

  test('accepts an existing folder, the root and a link to a folder', async () => {
    using box = open();
    box.folder('d');
    box.link('d', 'l');
    for (const raw of ['d', 'l', '', '.', '/', 'd/../d/']) expect(await make(box, raw)).toEqual({ created: false });
  });

  test('creates the target of a dangling link that stays inside', async () => {
    using box = open();
    box.link('later/on', 'l');
    expect(await make(box, 'l')).toEqual({ created: true });
    expect(box.tree()).toEqual(['l -> later/on', 'later/', 'later/on/']);
  });

  test('refuses an existing file, and a file as a parent', async () => {
    using box = open();
    box.file('f');
    expect(await outcome(make(box, 'f'))).toBe('already_exists');
    expect(await outcome(make(box, 'f/d'))).toBe('not_directory');
  });

  test('creates nothing outside', async () => {
    using box = open();
    box.link('../outside', 'out');
    box.link('../outside/none', 'dangling');
    for (const raw of ['out/d', 'out/d/e', 'dangling', 'dangling/d']) {
      expect(await outcome(make(box, raw))).toBe('outside_root');
    }
    expect(fs.readdirSync(box.outside)).toEqual(['secret']);
  });

  test('without makeParents a missing parent is an error', async () => {
    using box = open();
    expect(await outcome(make(box, 'a/b', { makeParents: false }))).toBe('not_found');
    expect(box.tree()).toEqual([]);
  });

  test('concurrent calls all succeed, and one of them reports created', async () => {
    using box = open();
    const made = await Promise.all(Array.from({ length: 20 }, () => make(box, 'a/b')));
    expect(made.filter(({ created }) => created)).toHaveLength(1);
  });

  test('a name that is too long for the filesystem raises name_too_long', async () => {
    using box = open();
    expect(await outcome(make(box, 'x'.repeat(256)))).toBe('name_too_long');
  });
});
