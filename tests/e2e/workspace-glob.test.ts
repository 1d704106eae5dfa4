import fs from 'node:fs';
import { expect, test } from 'vitest';
import { inWorkspace } from '../support/workspace.ts';

const paths = ({ matches }: { matches: { path: string }[] }) => matches.map(({ path }) => path);

inWorkspace({}, (w) => {
  test('E2E-055 FR-017 NFR-013: a pattern finds names', async () => {
    w.file('b.go', 'bb');
    w.file('a.go', 'a');
    w.file('c.txt');
    w.file('sub/d.go');
    expect(await w.ok('glob', { pattern: '*.go' })).toEqual({
      matches: [
        { path: 'a.go', type: 'file', size: 1, modified_at: fs.statSync(w.host('a.go')).mtime.toISOString() },
        { path: 'b.go', type: 'file', size: 2, modified_at: fs.statSync(w.host('b.go')).mtime.toISOString() },
      ],
      total_matches: 2,
      truncated: false,
      timed_out: false,
    });
  });

  test('E2E-056 FR-017: a regular expression finds paths', async () => {
    for (const name of ['test_1.go', 'test_2.go', 'main.go', 'sub/test_3.go']) w.file(name);
    expect(paths(await w.ok('glob', { regex: 'test_\\d+\\.go' }))).toEqual(['sub/test_3.go', 'test_1.go', 'test_2.go']);
    expect(paths(await w.ok('glob', { regex: '^test_\\d+\\.go$' }))).toEqual(['test_1.go', 'test_2.go']);
    expect(paths(await w.ok('glob', { regex: '^sub/' }))).toEqual(['sub/test_3.go']);
  });

  test('E2E-057 FR-017: two stars cross folders', async () => {
    for (const name of ['src/a.go', 'src/pkg/b.go', 'src/pkg/sub/c.go', 'top.go', 'src/x.txt']) w.file(name);
    expect(paths(await w.ok('glob', { pattern: 'src/**/*.go' }))).toEqual([
      'src/a.go',
      'src/pkg/b.go',
      'src/pkg/sub/c.go',
    ]);
    expect(paths(await w.ok('glob', { pattern: '**/*.go' }))).toEqual([
      'src/a.go',
      'src/pkg/b.go',
      'src/pkg/sub/c.go',
      'top.go',
    ]);
    expect(paths(await w.ok('glob', { pattern: '**/*.go', path: 'src/pkg' }))).toEqual([
      'src/pkg/b.go',
      'src/pkg/sub/c.go',
    ]);
    expect(paths(await w.ok('glob', { pattern: '**/*.go', max_depth: 2 }))).toEqual(['src/a.go', 'top.go']);
  });

  test('E2E-058 FR-017: only files, folders or links', async () => {
    w.file('file.txt');
    w.folder('folder');
    w.link('file.txt', 'link');
    expect(paths(await w.ok('glob', { pattern: '*', type_filter: 'file' }))).toEqual(['file.txt']);
    expect(paths(await w.ok('glob', { pattern: '*', type_filter: 'directory' }))).toEqual(['folder']);
    expect(paths(await w.ok('glob', { pattern: '*', type_filter: 'symlink' }))).toEqual(['link']);
    expect(paths(await w.ok('glob', { pattern: '*', type_filter: 'all' }))).toEqual(['file.txt', 'folder', 'link']);
    expect(paths(await w.ok('glob', { pattern: '*' }))).toHaveLength(3);
    expect(await w.fails('glob', { pattern: '*', type_filter: 'socket' })).toContain('type_filter');
  });

  test('E2E-059 FR-017: nothing found', async () => {
    w.file('a.txt');
    expect(await w.ok('glob', { pattern: '*.xyz' })).toEqual({
      matches: [],
      total_matches: 0,
      truncated: false,
      timed_out: false,
      hint: 'no match among 1 entry; pattern matches direct children of path; "**/*.xyz" matches at any depth',
    });
  });

  test.each([{ pattern: '*.go', regex: '.*\\.go' }, {}])(
    'E2E-060 FR-017: exactly one of pattern and regex, not %j',
    async (args) => {
      expect(await w.fails('glob', args)).toContain('exactly one of pattern or regex must be provided');
    },
  );

  test.each(['[unclosed', '(', '(?=x)'])('E2E-076 FR-017: %j is no regular expression', async (regex) => {
    expect(await w.fails('glob', { regex })).toMatch(/^invalid pattern: .+/);
  });

  test('FR-017: truncated only if there was more', async () => {
    for (let index = 0; index < 105; index += 1) w.file(`f${String(index).padStart(3, '0')}`);
    expect(await w.ok('glob', { pattern: '*' })).toMatchObject({ total_matches: 100, truncated: true });
    expect(await w.ok('glob', { pattern: '*', max_results: 105 })).toMatchObject({
      total_matches: 105,
      truncated: false,
    });
    const two = await w.ok('glob', { pattern: '*', max_results: 2 });
    expect(two.truncated).toBe(true);
    expect(paths(two)).toEqual(['f000', 'f001']);
  });

  test.each([
    ['{a,b}.txt', ['a.txt', 'b.txt']],
    ['?.txt', ['a.txt', 'b.txt', 'c.txt']],
    ['[a-b].txt', ['a.txt', 'b.txt']],
    ['[!a].txt', ['b.txt', 'c.txt']],
    ['!a.txt', []],
    ['#x', ['#x']],
    ['.*', ['.hidden']],
    ['*', ['#x', '.hidden', 'a.txt', 'b.txt', 'c.txt', 'sub']],
    ['sub/*', ['sub/d.txt']],
    ['*/', ['sub']],
    ['**/d.txt', ['sub/d.txt']],
    ['./a.txt', ['a.txt']],
    ['/a.txt', ['a.txt']],
  ])('the glob %s', async (pattern, expected) => {
    for (const name of ['a.txt', 'b.txt', 'c.txt', '.hidden', '#x', 'sub/d.txt']) w.file(name);
    expect(paths(await w.ok('glob', { pattern }))).toEqual(expected);
  });

  test('a pattern cannot leave the root', async () => {
    w.file('secret', 'x', 'outside');
    for (const pattern of ['../outside/*', '../**/*', '**/../../outside/secret', '/etc/*']) {
      expect(paths((await w.call('glob', { root: 'workspace', pattern })).structured ?? { matches: [] })).toEqual([]);
    }
  });

  test('a place to search that is no folder', async () => {
    expect(await w.fails('glob', { pattern: '*', path: 'ghost' })).toBe('path not found: ghost (root: workspace)');
    w.file('file');
    expect(await w.fails('glob', { pattern: '*', path: 'file' })).toBe(
      'path is not a directory: file (root: workspace)',
    );
  });
});
