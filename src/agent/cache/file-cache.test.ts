import { describe, expect, test } from 'vitest';
import { BridgeError } from '../bridge-error.ts';
import { FileCache } from './file-cache.ts';

const forty = (fill: string) => ({ content: fill.repeat(40) });

function cacheOf(...names: string[]): FileCache {
  const cache = new FileCache({ maxBytes: 100 });
  for (const name of names) cache.set(name, forty(name));
  return cache;
}

test('a file comes back with its content and metadata unchanged', () => {
  const cache = new FileCache({ maxBytes: 100, now: () => 5 });
  cache.set('a', { content: 'é', encoding: 'latin1', mtime: '2026-01-01', size: 1 });
  expect(cache.get('a')).toEqual({
    path: 'a',
    content: 'é',
    encoding: 'latin1',
    mtime: '2026-01-01',
    size: 1,
    bytes: 2,
    cachedAt: 5,
  });
  cache.set('b', { content: Buffer.from([255]) });
  expect(cache.get('b')?.content).toEqual(Buffer.from([255]));
  expect(cache.stats().bytes).toBe(3);
});

describe('the least recently used entry is evicted', () => {
  test.each<[string, (cache: FileCache) => unknown, string[]]>([
    ['set', (cache) => cache.set('a', forty('A')), ['a', 'c']],
    ['get', (cache) => cache.get('a'), ['a', 'c']],
    ['has', (cache) => cache.has('a'), ['b', 'c']],
    ['peek', (cache) => cache.peek('a'), ['b', 'c']],
    ['stats', (cache) => cache.stats(), ['b', 'c']],
    ['paths', (cache) => cache.paths(), ['b', 'c']],
    ['a get that misses by mtime of another', (cache) => cache.get('b', { mtime: Date.now() + 1e6 }), ['a', 'c']],
  ])('after %s', (_, use, kept) => {
    const cache = cacheOf('a', 'b');
    use(cache);
    cache.set('c', forty('c'));
    expect(cache.paths()).toEqual(kept);
  });
});

test('stats count hits, misses, updates, evictions and invalidations', () => {
  const cache = cacheOf('a', 'b');
  cache.get('a');
  cache.get('x');
  expect(cache.set('a', { content: 'short' })).toEqual({ status: 'updated', evicted: { entries: 0, bytes: 0 } });
  expect(cache.set('c', { content: 'c'.repeat(60) })).toEqual({
    status: 'created',
    evicted: { entries: 1, bytes: 40 },
  });
  expect(cache.get('a', { mtime: '2100-01-01' })).toBeUndefined();
  expect(cache.stats()).toEqual({
    entries: 1,
    listings: 0,
    bytes: 60,
    maxBytes: 100,
    hits: 1,
    misses: 2,
    updates: 1,
    evictions: 1,
    evictedBytes: 40,
    invalidations: 1,
  });
});

test('a file larger than the cache is refused with its path and changes nothing', () => {
  const cache = cacheOf('a', 'b');
  const before = cache.stats();
  expect(() => cache.set('docs/huge', { content: 'x'.repeat(101) })).toThrow(/101 bytes.*limit is 100.*docs\/huge/);
  expect(() => cache.set('a', { content: 'x'.repeat(101) })).toThrow(BridgeError);
  expect(cache.stats()).toEqual(before);
  expect(cache.peek('a')).toMatchObject(forty('a'));
});

describe('several files at once', () => {
  const batch = (...sizes: number[]) => sizes.map((size, i) => ({ path: `n${i}`, content: 'n'.repeat(size) }));

  test('are stored together and evict older ones', () => {
    const cache = cacheOf('a', 'b');
    expect(cache.setAll(batch(50, 50)).map(({ evicted }) => evicted.entries)).toEqual([1, 1]);
    expect(cache.paths()).toEqual(['n0', 'n1']);
  });

  test('replace files of the same paths before others are evicted', () => {
    const cache = new FileCache({ maxBytes: 100 });
    cache.set('two', { content: 'x'.repeat(50) });
    cache.set('one', { content: 'x'.repeat(40) });
    const stored = cache.setAll([
      { path: 'three', content: 'y'.repeat(20) },
      { path: 'two', content: 'y'.repeat(20) },
    ]);
    expect(stored.map(({ status }) => status)).toEqual(['created', 'updated']);
    expect(cache.paths()).toEqual(['one', 'three', 'two']);
    expect(cache.stats()).toMatchObject({ bytes: 80, updates: 1, evictions: 0 });
  });

  test('must fit together, in bytes and in number', () => {
    const cache = cacheOf('a', 'b');
    expect(() => cache.setAll(batch(50, 51))).toThrow(/101 bytes/);
    expect(cache.paths()).toEqual(['a', 'b']);
    const few = new FileCache({ maxBytes: 100, maxEntries: 2 });
    expect(() => few.setAll(batch(0, 0, 0))).toThrow(/more than 2/);
    expect(few.stats().entries).toBe(0);
  });

  test('are refused together if one has an invalid mtime', () => {
    const cache = cacheOf('a');
    expect(() => cache.setAll([...batch(5), { path: 'm', content: '', mtime: 'soon' }])).toThrow(/mtime/);
    expect(cache.paths()).toEqual(['a']);
  });
});

describe('a newer mtime', () => {
  test('drops the file; an equal or older one does not', () => {
    const cache = new FileCache({ maxBytes: 100 });
    cache.set('a', { content: 'x', mtime: 1000 });
    expect(cache.get('a', { mtime: 999 })).toBeDefined();
    expect(cache.get('a', { mtime: '1970-01-01T00:16:40Z' })).toBeDefined();
    expect(cache.get('a', { mtime: 1001 })).toBeUndefined();
    expect(cache.stats()).toMatchObject({ entries: 0, bytes: 0 });
  });

  test('is compared with the time of caching if the file has no mtime', () => {
    const cache = new FileCache({ maxBytes: 100, now: () => 1_800_000_000_000 });
    cache.set('a', { content: 'x' });
    expect(cache.get('a', { mtime: 1_800_000_000 })).toBeDefined();
    expect(cache.get('a', { mtime: 1_800_000_001 })).toBeUndefined();
  });
});

test('listings count towards the limit and are separate from files of the same name', () => {
  const cache = new FileCache({ maxBytes: 100 });
  const entries = [{ name: 'a', path: 'docs/a', type: 'file' as const }];
  cache.set('old', forty('o'));
  cache.setListing('docs', entries, false);
  expect(cache.stats()).toMatchObject({ entries: 2, listings: 1, bytes: 40 + JSON.stringify(entries).length });
  expect(cache.get('docs')).toBeUndefined();
  expect(cache.getListing('docs')).toMatchObject({ entries, recursive: false });
  cache.set('new', { content: 'n'.repeat(40) });
  expect(cache.paths()).toEqual(['new']);
  expect(cache.peekListing('docs')).toBeDefined();
  expect(() => cache.setListing('docs', Array(9).fill(entries[0]), false)).toThrow(/Too large/);
});

test('the number of empty files is limited', () => {
  const cache = new FileCache({ maxBytes: 100, maxEntries: 2 });
  for (const name of ['a', 'b', 'c']) cache.set(name, { content: '' });
  expect(cache.paths()).toEqual(['b', 'c']);
});

test('an invalid size throws a RangeError', () => {
  expect(() => new FileCache({ maxBytes: Number.NaN })).toThrow(RangeError);
});
