import fs from 'node:fs';
import { expect, test } from 'vitest';
import { Sandbox } from '../fence/sandbox.fixture.ts';
import { versionOf } from './version.ts';

const STATS = { ino: 2, size: 3, mtimeMs: 4.5, ctimeMs: 5.25 };

test('a version is twelve characters, the same for the same status and another for each part of it', () => {
  const versions = [
    STATS,
    { ...STATS, ino: 3 },
    { ...STATS, size: 4 },
    { ...STATS, mtimeMs: 4.5001 },
    { ...STATS, ctimeMs: 5.2501 },
  ].map(versionOf);
  expect(new Set(versions).size).toBe(versions.length);
  expect(versions.every((version) => /^[0-9a-v]{12}$/.test(version))).toBe(true);
  expect(versionOf({ ...STATS })).toBe(versions[0]);
});

test('a hundred thousand files of one folder have as many versions', () => {
  const versions = new Set<string>();
  for (let ino = 0; ino < 100_000; ino += 1) versions.add(versionOf({ ...STATS, ino }));
  expect(versions.size).toBe(100_000);
});

test('a file that is changed and given its former modification time has another version', () => {
  using box = new Sandbox('portable');
  const host = box.file('f', 'before');
  const before = fs.statSync(host);
  const until = Date.now() + 20;
  while (Date.now() < until);
  fs.writeFileSync(host, 'after!');
  fs.utimesSync(host, before.atime, before.mtime);
  expect(versionOf(fs.statSync(host))).not.toBe(versionOf(before));
});
