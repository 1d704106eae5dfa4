import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { expect, test } from 'vitest';
import { parseCallerPath } from '../../fence/index.ts';
import { onEveryBackend, outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { removeFile } from './remove-entry.ts';

const remove = ({ root }: Sandbox, raw: string) => removeFile(root, parseCallerPath(raw));

onEveryBackend((open) => {
  test('removes a file, a pipe, and links themselves', async () => {
    using box = open();
    box.file('f');
    box.file('kept');
    box.folder('d');
    execFileSync('mkfifo', [box.host('p')]);
    const links = { toFile: 'kept', toFolder: 'd', dangling: 'none', outward: '../outside/secret', circle: 'circle' };
    for (const [name, target] of Object.entries(links)) box.link(target, name);
    for (const name of ['f', 'p', ...Object.keys(links)]) await remove(box, name);
    expect(box.tree()).toEqual(['d/', 'kept']);
    expect(fs.readdirSync(box.outside)).toEqual(['secret']);
  });

  test('refuses folders, the root and missing entries', async () => {
    using box = open();
    box.folder('d');
    expect(await outcome(remove(box, 'd'))).toBe('is_directory');
    expect(await outcome(remove(box, ''))).toBe('is_directory');
    expect(await outcome(remove(box, 'none'))).toBe('not_found');
    expect(await outcome(remove(box, 'no/ne'))).toBe('not_found');
    expect(box.exists('d')).toBe(true);
  });

  test('removes nothing behind an outward link', async () => {
    using box = open();
    box.link('../outside', 'out');
    expect(await outcome(remove(box, 'out/secret'))).toBe('outside_root');
    expect(fs.readdirSync(box.outside)).toEqual(['secret']);
  });
});

test('returns the type of what it removed', async () => {
  using box = new Sandbox('openat2');
  box.file('f');
  box.link('f', 'l');
  execFileSync('mkfifo', [box.host('p')]);
  const types = [];
  for (const name of ['l', 'p', 'f']) types.push((await remove(box, name)).type);
  expect(types).toEqual(['symlink', 'other', 'file']);
});
