import { describe, expect, test } from 'vitest';
import type { PathInfo } from '../listing-entry.ts';
import { FileCache } from './file-cache.ts';
import { ListingIndex } from './listing-index.ts';

const file = (path: string, mtime?: number): PathInfo => ({
  name: path.slice(path.lastIndexOf('/') + 1),
  path,
  type: 'file',
  ...(mtime !== undefined && { mtime }),
});
const folder = (path: string, children?: PathInfo[]): PathInfo => ({
  ...file(path),
  type: 'directory',
  ...(children && { children }),
});
const flat = (path: string, pattern?: string) => ({ path, pattern, recursive: false });
const deep = (path: string, pattern?: string) => ({ path, pattern, recursive: true });
const names = (entries: readonly PathInfo[] | undefined) => entries?.map(({ name }) => name);

function listingsOf() {
  const clock = { now: 0 };
  const cache = new FileCache({ maxBytes: 10_000, now: () => clock.now });
  return { listings: new ListingIndex(cache), cache, clock };
}

describe('find answers a question', () => {
  test('from the listing of the folder, or a recursive one of a folder above', () => {
    const { listings } = listingsOf();
    listings.keep(flat('docs'), [folder('docs/a', [folder('docs/a/b', [file('docs/a/b/c')]), folder('docs/a/e', [])])]);
    expect(names(listings.find(flat('docs')))).toEqual(['a']);
    expect(names(listings.find(flat('docs/a')))).toEqual(['b', 'e']);
    expect(names(listings.find(flat('docs/a/b')))).toEqual(['c']);
    expect(names(listings.find(flat('docs/a/e')))).toEqual([]);
    expect(names(listings.find(deep('docs')))).toEqual(['a']);
    expect(listings.find(flat('docs/a/x'))).toBeUndefined();
    expect(listings.find(flat('src'))).toBeUndefined();
  });

  test('recursively only from a recursive or complete listing', () => {
    const { listings } = listingsOf();
    listings.keep(flat('docs'), [file('docs/f'), folder('docs/a')]);
    expect(listings.find(flat('docs'))).toBeDefined();
    expect(listings.find(deep('docs'))).toBeUndefined();
    listings.keep(deep('docs'), [file('docs/f'), folder('docs/a')]);
    expect(listings.find(deep('docs'))).toBeDefined();
  });

  test('with a pattern from an unfiltered listing or one with the same pattern', () => {
    const { listings } = listingsOf();
    listings.keep(flat('docs', '*.md'), [file('docs/a.md')]);
    expect(listings.find(flat('docs', '*.md'))).toBeDefined();
    expect(listings.find(flat('docs'))).toBeUndefined();
    expect(listings.find(flat('docs', '*.ts'))).toBeUndefined();
    expect(listings.find(deep('docs', '*.md'))).toBeUndefined();
    listings.keep(flat('docs'), [file('docs/a.md'), file('docs/b.ts')]);
    expect(names(listings.find(flat('docs', '*.ts')))).toEqual(['a.md', 'b.ts']);
  });

  test('from the newest listing that covers the folder', () => {
    const { listings, clock } = listingsOf();
    listings.keep(flat('docs/a'), [file('docs/a/old')]);
    clock.now = 1;
    listings.keep(deep('docs'), [folder('docs/a', [file('docs/a/new')])]);
    expect(names(listings.find(flat('docs/a')))).toEqual(['new']);
    clock.now = 2;
    listings.keep(flat('docs/a'), [file('docs/a/newer')]);
    expect(names(listings.find(flat('docs/a')))).toEqual(['newer']);
  });

  test('and makes the listing the most recently used', () => {
    const { listings, cache } = listingsOf();
    listings.keep(flat('docs'), [folder('docs/a', [])]);
    cache.set('filler', { content: 'x'.repeat(9_800) });
    listings.find(flat('docs/a'));
    cache.set('filler-2', { content: 'x'.repeat(9_800) });
    expect(listings.find(flat('docs'))).toBeDefined();
    expect(cache.paths()).toEqual(['filler-2']);
  });
});

test('info describes a file or folder from the listings that cover it', () => {
  const { listings } = listingsOf();
  listings.keep(flat('.'), [file('top.md'), folder('docs', [file('docs/a', 7)])]);
  expect(listings.info('top.md')).toEqual(file('top.md'));
  expect(listings.info('docs/a')).toEqual(file('docs/a', 7));
  expect(listings.info('docs')).toMatchObject({ type: 'directory' });
  expect(listings.info('.')).toMatchObject({ type: 'directory' });
  expect(listings.info('docs/b')).toBeUndefined();
  listings.keep(flat('src'), []);
  expect(listings.info('src')).toEqual({ name: 'src', path: 'src', type: 'directory' });
});

test('a listing drops cached files that are older than it says, and no others', () => {
  const { listings, cache, clock } = listingsOf();
  clock.now = 3_000_000;
  for (const [path, mtime] of [
    ['docs/old', 100],
    ['docs/same', 200],
    ['docs/sub/old', 100],
  ] as const)
    cache.set(path, { content: 'x', mtime });
  cache.set('docs/untimed', { content: 'x' });
  listings.keep(flat('docs', '*'), [
    file('docs/old', 200),
    file('docs/same', 200),
    file('docs/untimed', 2_999),
    folder('docs/sub', [file('docs/sub/old', 101)]),
  ]);
  expect(cache.paths()).toEqual(['docs/same', 'docs/untimed']);
  listings.keep(flat('docs', '*'), [file('docs/untimed', 3_001)]);
  expect(cache.paths()).toEqual(['docs/same']);
});
