import { expect, test } from 'vitest';
import { outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { isHidden, pathIn, shown } from './path.ts';

test('relative paths are normalised, the root is shown as a dot', () => {
  using box = new Sandbox('openat2');
  const show = (raw: string) => shown(pathIn(box.root, raw));
  expect(['', '.', './', 'a/..', 'a//b/', './a/../b', '...', '%2e%2e/x', '~/x', ' '].map(show)).toEqual(
    ['.', '.', '.', '.', 'a/b', 'b', '...', '%2e%2e/x', '~/x', ' '], // prettier-ignore
  );
});

test('absolute paths of any system, climbing and impossible names are refused', async () => {
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
    expect([raw, await outcome(() => pathIn(box.root, raw))]).toEqual([raw, 'outside_root']);
  }
  expect(await outcome(() => pathIn(box.root, 'a\0b'))).toBe('invalid_path');
  expect(await outcome(() => pathIn(box.root, '\ud800'))).toBe('invalid_path');
});

test('a refusal says, for the log, where the path leads', () => {
  using box = new Sandbox('openat2');
  const refused = (raw: string, resolved: string) =>
    expect(() => pathIn(box.root, raw)).toThrow(
      expect.objectContaining({ code: 'outside_root', path: raw, root: 'workspace', details: { resolved } }),
    );
  refused('a/../../outside/secret', `${box.outside}/secret`);
  refused('..\\outside\\secret', `${box.outside}/secret`);
  refused('/etc/passwd', '/etc/passwd');
});

test('a backslash separates names unless an entry has it in its name', () => {
  using box = new Sandbox('openat2');
  const segments = (raw: string) => pathIn(box.root, raw).segments;
  expect(segments('a\\b\\..\\c')).toEqual(['a', 'c']);
  box.file('a\\b');
  box.file('\\x');
  expect(segments('a\\b')).toEqual(['a\\b']);
  expect(segments('./a\\b')).toEqual(['a\\b']);
  expect(segments('\\x')).toEqual(['\\x']);
});

test('hidden is a name that starts with a dot, which the root does not have', () => {
  expect(['.git', '...', 'a.b', '.', ''].map(isHidden)).toEqual([true, true, false, false, false]);
});
