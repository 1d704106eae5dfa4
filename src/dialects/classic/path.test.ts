import { expect, test } from 'vitest';
import { outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { formatPath, isHidden, parsePath } from './path.ts';

test('relative paths are normalised, the root is shown as a dot', () => {
  using box = new Sandbox('openat2');
  const show = (raw: string) => formatPath(parsePath(box.root, raw));
  expect(['', '.', './', 'a/..', 'a//b/', './a/../b', '...', '%2e%2e/x', '~/x', ' '].map(show)).toEqual(
    ['.', '.', '.', '.', 'a/b', 'b', '...', '%2e%2e/x', '~/x', ' '], // prettier-ignore
  );
});

test('absolute paths of any system, paths above the root and invalid names are refused', async () => {
  using box = new Sandbox('openat2');
  for (const raw of [
    '/',
    '/etc/passwd',
    '//a',
    'C:\\x',
    'c:/x',
    '\\\\host\\share',
    '\\x',
    '..',
    'a/../../x',
    '..\\x',
  ]) {
    expect([raw, await outcome(() => parsePath(box.root, raw))]).toEqual([raw, 'outside_root']);
  }
  expect(await outcome(() => parsePath(box.root, 'a\0b'))).toBe('invalid_path');
  expect(await outcome(() => parsePath(box.root, '\ud800'))).toBe('invalid_path');
});

test('a refusal carries the resolved path for the log', () => {
  using box = new Sandbox('openat2');
  const refused = (raw: string, resolved: string) =>
    expect(() => parsePath(box.root, raw)).toThrow(
      expect.objectContaining({ code: 'outside_root', path: raw, root: 'workspace', details: { resolved } }),
    );
  refused('a/../../outside/secret', `${box.outside}/secret`);
  refused('..\\outside\\secret', `${box.outside}/secret`);
  refused('/etc/passwd', '/etc/passwd');
});

test('a backslash separates names unless an entry has it in its name', () => {
  using box = new Sandbox('openat2');
  const segments = (raw: string) => parsePath(box.root, raw).segments;
  expect(segments('a\\b\\..\\c')).toEqual(['a', 'c']);
  box.file('a\\b');
  box.file('\\x');
  expect(segments('a\\b')).toEqual(['a\\b']);
  expect(segments('./a\\b')).toEqual(['a\\b']);
  expect(segments('\\x')).toEqual(['\\x']);
});

test('a name that starts with a dot is hidden, except that of the root', () => {
  expect(['.git', '...', 'a.b', '.', ''].map(isHidden)).toEqual([true, true, false, false, false]);
});
