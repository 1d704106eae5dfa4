import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { cannotDropPrivileges, runChild } from '../../../tests/support/child.ts';
import { parseCallerPath } from '../../fence/index.ts';
import { outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { type Access, accessByMode, accessOf } from './access.ts';

const letters = ({ readable, writable, executable }: Access) =>
  (readable ? 'r' : '-') + (writable ? 'w' : '-') + (executable ? 'x' : '-');

test.each([
  ['the owner', 0o640, { uid: 1, groups: [] }, 'rw-'],
  ['the owner, who has less than others', 0o077, { uid: 1, groups: [2] }, '---'],
  ['a member of the group', 0o640, { uid: 9, groups: [3, 2] }, 'r--'],
  ['a member of the group, who has less than others', 0o707, { uid: 9, groups: [2] }, '---'],
  ['anybody', 0o641, { uid: 9, groups: [9] }, '--x'],
  ['the superuser', 0o000, { uid: 0, groups: [] }, 'rw-'],
  ['the superuser on a program', 0o001, { uid: 0, groups: [] }, 'rwx'],
  ['everybody where there are no users', 0o500, { uid: undefined, groups: [] }, 'r-x'],
])('%s gets the access that the mode bits grant', (_, mode, user, expected) => {
  const stats = { mode, uid: 1, gid: 2, isDirectory: () => false };
  expect(letters(accessByMode(stats, user))).toBe(expected);
});

test('the superuser may enter any folder', () => {
  const stats = { mode: 0o040000, uid: 1, gid: 2, isDirectory: () => true };
  expect(letters(accessByMode(stats, { uid: 0, groups: [] }))).toBe('rwx');
});

test('links inside the root are followed, outward ones refused, and nothing is changed', async () => {
  using box = new Sandbox('openat2');
  const host = box.file('f', 'x', 0o755);
  box.link('f', 'in');
  box.link('../outside/secret', 'out');
  execFileSync('mkfifo', [box.host('pipe')]);
  const before = fs.statSync(host);
  const access = (raw: string) => accessOf(box.root, parseCallerPath(raw));
  expect(letters(await access('in'))).toBe('rwx');
  expect(letters(await access('none'))).toBe('---');
  expect((await access('pipe')).executable).toBe(false);
  expect(await outcome(access('out'))).toBe('outside_root');
  expect(fs.statSync(host)).toEqual(before);
});

describe.skipIf(cannotDropPrivileges)(`as a user without rights (${cannotDropPrivileges ?? 'nobody'})`, () => {
  test('denied access is reported', async () => {
    using box = new Sandbox('openat2');
    const modes = { readable: 0o604, writable: 0o602, both: 0o666, none: 0o600, program: 0o705 };
    for (const [name, mode] of Object.entries(modes)) box.file(name, '', mode);
    box.folder('folder', 0o755);
    const script = `
      const { accessOf } = await from('files/list/access.js');
      const found = {};
      for (const name of args) found[name] = await accessOf(root, path(name));
      answer(found);`;
    const names = [...Object.keys(modes), 'folder'];
    const options = { folder: box.inside, args: names, unprivileged: true };
    const found = await runChild<Record<string, Access>>(script, options);
    expect(Object.entries(found).map(([name, access]) => `${name} ${letters(access)}`)).toEqual([
      'readable r--',
      'writable -w-',
      'both rw-',
      'none ---',
      'program r-x',
      'folder r-x',
    ]);
  });
});
