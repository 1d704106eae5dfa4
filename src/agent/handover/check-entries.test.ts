import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempDir } from '../../../tests/support/temp-dir.ts';
import { type BridgeError, SecurityError } from '../bridge-error.ts';
import { PathValidator } from '../policy/path-validator.ts';
import { SecurityPolicy } from '../policy/security-policy.ts';
import { checkEntries } from './check-entries.ts';

const remote = new PathValidator(new SecurityPolicy({ remote: true, allowedPaths: ['.'] }));
const check = (entries: unknown, folder = 'docs') => checkEntries(entries, folder, remote);

test('entries get a path and keep their metadata', () => {
  const entries = [
    { name: 'a.md', type: 'file', size: 3, mtime: '2026-01-01', more: 'is not kept' },
    { name: 'sub', type: 'directory', children: [{ name: 'é', type: 'symlink', size: null, mtime: null }] },
    { name: 'pipe', type: 'other', children: null },
  ];
  expect(check(entries)).toEqual([
    { name: 'a.md', path: 'docs/a.md', type: 'file', size: 3, mtime: '2026-01-01' },
    {
      name: 'sub',
      path: 'docs/sub',
      type: 'directory',
      children: [{ name: 'é', path: 'docs/sub/é', type: 'symlink' }],
    },
    { name: 'pipe', path: 'docs/pipe', type: 'other' },
  ]);
  expect(check([{ name: 'a', type: 'file' }], '.')).toEqual([{ name: 'a', path: 'a', type: 'file' }]);
  expect(check([])).toEqual([]);
});

const file = (name: unknown, more: object = {}) => ({ name, type: 'file', ...more });

describe('one invalid entry refuses the whole listing', () => {
  test.each(['.', '..', '../x', 'a/b', '/etc', 'a\\b', '..\\x', 'a\0', 'a\nb', '\ud800', '...', 'x/'])(
    'a name like %j is a security error',
    (name) => {
      const nested = [file('good'), { name: 'sub', type: 'directory', children: [file(name)] }];
      for (const entries of [[file('good'), file(name)], nested]) expect(() => check(entries)).toThrow(SecurityError);
    },
  );

  test.each([
    ['C:', '.'],
    ['~', '.'],
  ])('%j is refused at the top, where it is an absolute path', (name, folder) => {
    expect(() => check([file(name)], folder)).toThrow(SecurityError);
    expect(check([file(name)], 'docs')).toHaveLength(1);
  });

  test.each<[unknown, RegExp]>([
    [{}, /entries must be an array/],
    ['a', /entries must be an array, not a string/],
    [[null], /entries\[0\] must be an object, not nothing/],
    [[file('')], /entries\[0\]\.name must be/],
    [[file(7)], /entries\[0\]\.name must be/],
    [[file('a'), { name: 'b', type: 'portal' }], /entries\[1\]\.type must be file, directory/],
    [[{ name: 'a' }], /type must be/],
    [[file('a', { size: -1 })], /size must be/],
    [[file('a', { size: 1.5 })], /size must be/],
    [[file('a', { size: '3' })], /size must be/],
    [[file('a', { mtime: 'soon' })], /mtime must be/],
    [[file('a', { children: [] })], /children is for directories/],
    [[file('a'), file('a')], /entries\[1\]\.name "a" is listed twice/],
    [
      [{ name: 'd', type: 'directory', children: [file('a'), { name: 'b', type: 'directory', children: 7 }] }],
      /entries\[0\]\.children\[1\]\.children must be an array/,
    ],
  ])('%j', (entries, message) => {
    const error = thrown(() => check(entries));
    expect(error.message).toMatch(message);
    expect(error).toMatchObject({ code: 'invalid_argument', errorType: 'validation' });
  });

  test('the number of entries and their depth are limited', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => file(`${i}`));
    expect(check(many(10_000))).toHaveLength(10_000);
    expect(() => check(many(10_001))).toThrow(/more than 10000/);
    const halves = ['a', 'b'].map((name) => ({ name, type: 'directory', children: many(5_000) }));
    expect(() => check(halves)).toThrow(/more than 10000/);
    let deep: object = { name: 'd', type: 'directory' };
    for (let i = 0; i < 100_000; i += 1) deep = { name: 'd', type: 'directory', children: [deep] };
    expect(() => check([deep])).toThrow(/deeper than 64/);
  });
});

test('links of a local project are followed, except entries listed as symlinks', () => {
  const projectRoot = tempDir();
  fs.mkdirSync(path.join(projectRoot, 'docs/sub'), { recursive: true });
  fs.symlinkSync('/etc', path.join(projectRoot, 'docs/sub/out'));
  const validator = new PathValidator(new SecurityPolicy({ projectRoot }));
  const listed = (type: string) =>
    checkEntries([{ name: 'sub', type: 'directory', children: [{ name: 'out', type }] }], 'docs', validator);
  expect(listed('symlink')).toHaveLength(1);
  expect(thrown(() => listed('directory'))).toMatchObject({ violation: 'link', path: 'docs/sub/out' });
  fs.rmSync(projectRoot, { recursive: true });
});

function thrown(run: () => unknown): BridgeError {
  try {
    run();
  } catch (error) {
    return error as BridgeError;
  }
  throw new Error('nothing was thrown');
}
