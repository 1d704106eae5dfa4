import { describe, expect, test } from 'vitest';
import type { PathInfo } from '../listing-entry.ts';
import { compileListingFilter, describeExcluded, filterEntries } from './listing-filter.ts';

const file = (path: string): PathInfo => ({ name: path.slice(path.lastIndexOf('/') + 1), path, type: 'file' });
const folder = (path: string, ...children: PathInfo[]): PathInfo => ({ ...file(path), type: 'directory', children });
const TREE = [
  file('docs/a.md'),
  file('docs/b.ts'),
  folder('docs/sub', file('docs/sub/c.md'), folder('docs/sub/deep', file('docs/sub/deep/d.ts'))),
  folder('docs/empty'),
];

const paths = (entries: readonly PathInfo[]): string[] =>
  entries.flatMap(({ path, children = [] }) => [path.slice('docs/'.length), ...paths(children)]);

test.each([
  ['*.md', ['a.md', 'sub', 'sub/c.md']],
  ['*.ts', ['b.ts', 'sub', 'sub/deep', 'sub/deep/d.ts']],
  ['*', ['a.md', 'b.ts', 'sub', 'sub/c.md', 'sub/deep', 'sub/deep/d.ts', 'empty']],
  ['*/*.md', ['sub', 'sub/c.md']],
  ['./*.md', ['a.md']],
  ['**/*.md', ['a.md', 'sub', 'sub/c.md']],
  ['{a,d}.*', ['a.md', 'sub', 'sub/deep', 'sub/deep/d.ts']],
  ['deep', ['sub', 'sub/deep']],
  ['empty/', ['empty']],
  ['*.py', []],
  ['a..b', []],
])('%s leaves %j', (pattern, left) => {
  expect(paths(filterEntries(TREE, compileListingFilter(pattern)))).toEqual(left);
});

describe('refused', () => {
  test.each([
    '..',
    '../*',
    '**/../*',
    'a/..',
    '{..,a}/x',
    '{a,..}',
    '@(..|a)/x',
    '..\\*',
    '/etc/*',
    '\\x',
    'C:/*',
    'file:///x',
    '~/*',
    '',
    'a\0b',
    'a\nb',
    '[',
    '{a',
    '{a,b}'.repeat(20),
    '**/'.repeat(201),
    'x'.repeat(2000),
    7 as never,
  ])('%j', (pattern) => {
    expect(() => compileListingFilter(pattern)).toThrow(/^Invalid pattern: /);
  });
});

test('excluded files are reported, the first 20 by name', () => {
  expect(describeExcluded(TREE, filterEntries(TREE, compileListingFilter('*.md')))).toEqual([
    'docs/b.ts does not match the pattern and was left out',
    'docs/sub/deep/d.ts does not match the pattern and was left out',
  ]);
  const many = Array.from({ length: 25 }, (_, i) => file(`docs/${i}`));
  expect(describeExcluded(many, [])).toHaveLength(21);
  expect(describeExcluded(many, []).at(-1)).toBe('5 more were left out');
  expect(describeExcluded(TREE, TREE)).toEqual([]);
});

test('a pattern is limited by what it expands to, times the names that it is compared with', () => {
  const entries = Array.from({ length: 10_000 }, (_, index) => file(`docs/${'ab'.repeat(50)}${index}`));
  expect(filterEntries(entries, compileListingFilter('*.{md,ts}'))).toEqual([]);
  expect(() => filterEntries(entries, compileListingFilter('{*a,*b}'.repeat(4)))).toThrow(/too much to compare/);
});
