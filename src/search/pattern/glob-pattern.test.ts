import { expect, test } from 'vitest';
import { compileExcludes, compileGlob, compileGlobFilter } from './glob-pattern.ts';

test.each([
  ['*.go', 'a.go', true],
  ['*.go', 'src/a.go', false],
  ['**/*.go', 'a.go', true],
  ['**/*.go', 'src/pkg/a.go', true],
  ['**', '.hidden/x', true],
  ['*', '.hidden', true],
  ['src/**', 'src/a/b', true],
  ['{a,b}/?.ts', 'b/x.ts', true],
  ['[a-c].ts', 'd.ts', false],
  ['./src/*.ts', 'src/a.ts', true],
  ['/src/*.ts', 'src/a.ts', true],
  ['.//./x', 'x', true],
  ['!a', '!a', true],
  ['!a', 'b', false],
  ['#a', '#a', true],
  ['.*', '.x', true],
  ['file{1..2000}', 'file1999', true],
])('%s on %s: %s', (glob, path, expected) => {
  expect(compileGlob(glob).matches(path, 'file')).toBe(expected);
});

test('a trailing slash matches folders only', () => {
  expect(compileGlob('src/').matches('src', 'directory')).toBe(true);
  expect(compileGlob('src/').matches('src', 'file')).toBe(false);
  expect(compileGlob('**/').matches('a/b', 'directory')).toBe(true);
  expect(compileGlob('src').matches('src', 'directory')).toBe(true);
});

test('reports folders below which nothing can match', () => {
  expect(compileGlob('src/*.ts').mayMatchBelow('src')).toBe(true);
  expect(compileGlob('src/*.ts').mayMatchBelow('lib')).toBe(false);
  expect(compileGlob('*.ts').mayMatchBelow('src')).toBe(false);
  expect(compileGlob('**/*.ts').mayMatchBelow('any/where')).toBe(true);
});

test('a filter matches the name, or the path if it has a slash', () => {
  expect(compileGlobFilter('*.go')('deep/down/x.go')).toBe(true);
  expect(compileGlobFilter('src/*.go')('src/x.go')).toBe(true);
  expect(compileGlobFilter('src/*.go')('deep/src/x.go')).toBe(false);
  expect(compileGlobFilter('/x.go')('x.go')).toBe(true);
  expect(compileGlobFilter('/x.go')('deep/x.go')).toBe(false);
});

test.each([
  ['nothing', ''],
  ['nothing but a slash', './'],
  ['17 sets of braces', '{a,b}'.repeat(17)],
  ['ranges that multiply', '{1..99}{1..99}{1..99}'],
  ['alternatives that are all the same', '{a,a}'.repeat(17)],
  ['nested braces', `${'{'.repeat(300)}a,b${'}'.repeat(300)}`],
  ['201 globstars', '**/a/'.repeat(201)],
  ['64 KiB', 'a'.repeat(65_537)],
  ['{*a,*b} ten times', '{*a,*b}'.repeat(10)],
  ['{*a,*b} twelve times', '{*a,*b}'.repeat(12)],
  ['many groups', '+('.repeat(1_000)],
  ['many closed groups', `${'+('.repeat(1_000)}${')'.repeat(1_000)}`],
])('rejects globs that minimatch would silently not match: %s', (_what, glob) => {
  expect(() => compileGlob(glob)).toThrow(expect.objectContaining({ code: 'invalid_pattern' }));
});

test.each(['[a', '*.[ch', '[]', '[\\]', '[a\\]', '{a,b', 'x{1,{2,3}'])(
  '%s is rejected because it would silently match nothing',
  (glob) => {
    expect(() => compileGlob(glob)).toThrow(expect.objectContaining({ code: 'invalid_pattern' }));
  },
);

test.each([
  ['\\[a', '[a'],
  ['[]]', ']'],
  ['[[]x', '[x'],
  ['*[\\-]*', 'a-b'],
  ['x[\\[]*', 'x[a'],
  ['[\\]]', ']'],
  ['[!\\]]', 'a'],
  ['[\\\\]', '\\'],
  ['\\{a', '{a'],
  ['a}', 'a}'],
])('%s is accepted', (glob, name) => {
  expect(compileGlob(glob).matches(name, 'file')).toBe(true);
});

test('globs to leave out are limited by what they expand to together', () => {
  const glob = '{*a,*b}'.repeat(6);
  expect(() => compileExcludes([glob, glob])).not.toThrow();
  expect(() => compileExcludes(Array.from({ length: 20 }, () => glob))).toThrow(
    expect.objectContaining({ code: 'invalid_pattern' }),
  );
});
