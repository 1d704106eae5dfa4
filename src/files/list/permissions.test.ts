import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { OwnerNames } from '../../fence/index.ts';
import { Sandbox } from '../../fence/sandbox.fixture.ts';
import { permissionsOf } from './permissions.ts';

describe('mode', () => {
  test.each([
    [0o644, '0644'],
    [0o000, '0000'],
    [0o755, '0755'],
    [0o4755, '4755'],
    [0o4644, '4644'],
    [0o2711, '2711'],
    [0o2644, '2644'],
    [0o1777, '1777'],
    [0o1776, '1776'],
    [0o7777, '7777'],
  ])('%o is formatted as by ls', (bits, octal) => {
    using box = new Sandbox('openat2');
    const names = new OwnerNames();
    for (const host of [box.file('f'), box.folder('d')]) {
      fs.chmodSync(host, bits);
      const { mode, modeString } = permissionsOf(fs.lstatSync(host), names);
      expect(mode).toBe(octal);
      expect(modeString).toBe(execFileSync('stat', ['-c', '%A', host], { encoding: 'utf8' }).trim());
    }
  });

  test('links and pipes have their type letter', () => {
    using box = new Sandbox('openat2');
    execFileSync('mkfifo', ['-m', '600', box.host('p')]);
    box.link('p', 'l');
    const names = new OwnerNames();
    expect(permissionsOf(fs.lstatSync(box.host('p')), names).modeString).toBe('prw-------');
    expect(permissionsOf(fs.lstatSync(box.host('l')), names).modeString).toBe('lrwxrwxrwx');
    expect(permissionsOf(fs.lstatSync('/dev/null'), names).modeString).toMatch(/^c/);
  });
});

describe('owner', () => {
  test('is the name from the system, or the number if there is none', () => {
    using box = new Sandbox('openat2');
    const host = box.file('f');
    const names = new OwnerNames();
    expect(permissionsOf(fs.lstatSync(host), names)).toMatchObject({
      owner: execFileSync('id', ['-un'], { encoding: 'utf8' }).trim(),
      group: execFileSync('id', ['-gn'], { encoding: 'utf8' }).trim(),
    });
    const stats = Object.assign(fs.lstatSync(host), { uid: 4_000_000_000, gid: 54_321 });
    expect(permissionsOf(stats, names)).toMatchObject({ owner: '4000000000', group: '54321' });
  });

  test('is the first name of an id; malformed lines and missing files are ignored', () => {
    using box = new Sandbox('openat2');
    box.file(
      'passwd',
      '# comment\nroot:x:0:0:root:/root:/bin/sh\ntoor:x:0:0::/:\n+::::::\n\nbroken\nann:x:1000:1000::/:\n',
    );
    const names = new OwnerNames(box.inside);
    expect([0, 1000, 7].map((id) => names.user(id))).toEqual(['root', 'ann', '7']);
    expect(names.group(0)).toBe('0');
  });
});
