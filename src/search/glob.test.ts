import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { parseCallerPath } from '../fence/index.ts';
import { onEveryBackend, outcome, type Sandbox } from '../fence/sandbox.fixture.ts';
import { DEFAULT_CONTEXT, type OperationContext } from '../runtime/operation-context.ts';
import { type GlobOptions, glob, type PathQuery } from './glob.ts';
import { SearchPool } from './pool/search-pool.ts';

const pool = new SearchPool();
afterAll(() => pool.close());

type Options = PathQuery & Partial<Omit<GlobOptions, 'path' | keyof PathQuery>> & { path?: string };

function search(box: Sandbox, { path = '.', ...options }: Options, context: OperationContext = DEFAULT_CONTEXT) {
  const common = { path: parseCallerPath(path), maxResults: 1_000, timeoutSeconds: 60, type: 'all' as const };
  return glob(box.root, { ...common, ...options }, pool, context);
}

async function paths(box: Sandbox, options: Options): Promise<string[]> {
  return (await search(box, options)).matches.map((match) => match.path);
}

onEveryBackend((open) => {
  test('patterns match the path relative to the start; results are relative to the root', async () => {
    using box = open();
    for (const name of ['a.go', 'c.txt', 'src/a.go', 'src/pkg/b.go', 'src/pkg/.git/x.go']) box.file(name);
    expect(await paths(box, { pattern: '*.go' })).toEqual(['a.go']);
    expect(await paths(box, { pattern: '**/*.go' })).toEqual(['a.go', 'src/a.go', 'src/pkg/.git/x.go', 'src/pkg/b.go']);
    expect(await paths(box, { pattern: '*.go', path: 'src' })).toEqual(['src/a.go']);
    expect(await paths(box, { pattern: 'src/*/', type: 'all' })).toEqual(['src/pkg']);
    expect(await paths(box, { regex: '^pkg/\\w\\.go$', path: 'src' })).toEqual(['src/pkg/b.go']);
    expect(await paths(box, { regex: 'kg', type: 'directory' })).toEqual(['src/pkg', 'src/pkg/.git']);
    expect(await paths(box, { pattern: '*.xyz' })).toEqual([]);
  });

  test('reports the type of each entry; links are listed, not followed', async () => {
    using box = open();
    box.file('file', '12345');
    box.file('folder/inner', '');
    box.link('folder', 'link');
    box.link('.', 'folder/loop');
    box.link(box.outside, 'out');
    execFileSync('mkfifo', [box.host('pipe')]);
    fs.utimesSync(box.host('file'), 0, new Date('2024-05-06T07:08:09.123Z'));
    const { matches } = await search(box, { pattern: '**' });
    expect(matches.map(({ path, type }) => [path, type])).toEqual([
      ['file', 'file'],
      ['folder', 'directory'],
      ['folder/inner', 'file'],
      ['folder/loop', 'symlink'],
      ['link', 'symlink'],
      ['out', 'symlink'],
      ['pipe', 'other'],
    ]);
    expect(matches[0]).toEqual({ path: 'file', type: 'file', size: 5, modifiedAt: '2024-05-06T07:08:09.123Z' });
    expect(await paths(box, { pattern: '**', type: 'file' })).toEqual(['file', 'folder/inner']);
    expect(await paths(box, { pattern: '**', type: 'directory' })).toEqual(['folder']);
    expect(await paths(box, { pattern: '**', type: 'symlink' })).toEqual(['folder/loop', 'link', 'out']);
    expect(await paths(box, { pattern: '*', path: 'link' })).toEqual(['link/inner', 'link/loop']);
  });

  test('results are sorted by code point of the whole path', async () => {
    using box = open();
    for (const name of ['a/b', 'a/-', 'a.b', 'a-', 'a0', '\u{ff01}', '\u{1f600}/x']) box.file(name);
    const expected = ['a', 'a-', 'a.b', 'a/-', 'a/b', 'a0', '\u{ff01}', '\u{1f600}', '\u{1f600}/x'];
    expect(await paths(box, { pattern: '**' })).toEqual(expected);
    for (const maxResults of [1, 4, 8]) {
      const some = await search(box, { pattern: '**', maxResults });
      expect(some.matches.map((match) => match.path)).toEqual(expected.slice(0, maxResults));
      expect(some).toMatchObject({ totalMatches: maxResults, truncated: true, timedOut: false });
    }
    expect(await search(box, { pattern: '**', maxResults: 9 })).toMatchObject({ totalMatches: 9, truncated: false });
  });

  test('maxDepth, hidden files and leftover temporary files', async () => {
    using box = open();
    for (const name of ['f', 'a/f', 'a/b/f', '.h/f', '.ringfence-tmp-1']) box.file(name);
    expect(await paths(box, { pattern: '**', maxDepth: 0 })).toEqual([]);
    expect(await paths(box, { pattern: '**', maxDepth: 1 })).toEqual(['.h', 'a', 'f']);
    expect(await paths(box, { pattern: '**/f', maxDepth: 2 })).toEqual(['.h/f', 'a/f', 'f']);
    expect(await paths(box, { pattern: '**/f', skipHidden: true })).toEqual(['a/b/f', 'a/f', 'f']);
  });

  test('an invalid start or pattern is an error', async () => {
    using box = open();
    box.file('f');
    box.link(box.outside, 'out');
    expect(await outcome(search(box, { pattern: '*', path: 'none' }))).toBe('not_found');
    expect(await outcome(search(box, { pattern: '*', path: 'f' }))).toBe('not_directory');
    expect(await outcome(search(box, { pattern: '*', path: 'out', maxDepth: 0 }))).toBe('outside_root');
    expect(await outcome(search(box, { regex: '[unclosed' }))).toBe('invalid_pattern');
    expect(await outcome(search(box, { pattern: '' }))).toBe('invalid_pattern');
  });

  test('stops when aborted', async () => {
    using box = open();
    box.file('f');
    const abort = new AbortController();
    const running = search(box, { pattern: '**' }, { signal: abort.signal, progress: () => {} });
    abort.abort();
    expect(await outcome(running)).toBe('cancelled');
  });
});
