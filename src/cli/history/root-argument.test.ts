import { expect, test } from 'vitest';
import { parsePath, parseRootArgument } from './root-argument.ts';

const FOLDERS = ['/srv/notes', 'notes', 'a:b', 'a', 'C:\\data', '.'];

test.each([
  ['notes', 'notes', undefined],
  ['notes:todo.md', 'notes', 'todo.md'],
  ['notes:', 'notes', ''],
  ['/srv/notes:sub/file', '/srv/notes', 'sub/file'],
  ['notes:at 10:30.txt', 'notes', 'at 10:30.txt'],
  ['a:b', 'a:b', undefined],
  ['a:b:c', 'a:b', 'c'],
  ['a:c', 'a', 'c'],
  ['C:\\data', 'C:\\data', undefined],
  ['C:\\data:file', 'C:\\data', 'file'],
  ['.:x', '.', 'x'],
])('%s is the root %s with the path %s', (text, root, path) => {
  expect(parseRootArgument(text, (name) => FOLDERS.includes(name))).toEqual({ root, path });
});

test.each(['other', 'other:file', ':file', ''])('"%s" names no root', (text) => {
  expect(parseRootArgument(text, (name) => FOLDERS.includes(name))).toBeUndefined();
});

test('paths are from the top of the root, and stay out of its history', () => {
  expect(['', '.', '/a//b/', 'a/../b', 'a:b'].map(parsePath)).toEqual(['', '', 'a/b', 'b', 'a:b']);
  expect(['..', 'a/../../b', '.ringfence', 'a/.ringfence/log', 'a\0b'].map(parsePath)).toEqual(
    Array(5).fill(undefined),
  );
});
