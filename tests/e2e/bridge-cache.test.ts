import { describe, expect, test } from 'vitest';
import { FileCache } from '../../src/index.ts';

const text = (cache: FileCache, path: string) => cache.get(path)?.content.toString();

test('filesystem-interaction/Cache file content: content and metadata come back, and are counted', () => {
  const cache = new FileCache({ maxBytes: 1_000 });
  const mtime = '2026-01-01T00:00:00.000Z';
  expect(cache.set('docs/a.md', { content: 'é', encoding: 'utf-8', mtime, size: 2 })).toEqual({
    status: 'created',
    evicted: { entries: 0, bytes: 0 },
  });
  expect(cache.get('docs/a.md')).toMatchObject({ encoding: 'utf-8', mtime, size: 2 });
  expect(text(cache, 'docs/a.md')).toBe('é');
  expect(cache.set('docs/a.md', { content: Buffer.from([0xff]) })).toMatchObject({ status: 'updated' });
  expect(cache.get('docs/a.md')?.content).toEqual(Buffer.from([0xff]));
  expect(cache.stats()).toMatchObject({ entries: 1, bytes: 1, hits: 3, misses: 0, updates: 1, evictions: 0 });
});

test('filesystem-interaction/Cache hit; filesystem-interaction/Cache miss: both are counted', () => {
  const cache = new FileCache({ maxBytes: 1_000 });
  expect(cache.get('docs/a.md')).toBeUndefined();
  cache.set('docs/a.md', { content: '' });
  expect(text(cache, 'docs/a.md')).toBe('');
  expect(cache.get('docs/A.md')).toBeUndefined();
  expect(cache.stats()).toMatchObject({ entries: 1, bytes: 0, hits: 1, misses: 2 });
});

describe('filesystem-interaction/Cache invalidation by modification time', () => {
  const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`;

  test('an entry that is older than the file is gone, and that is a miss', () => {
    const cache = new FileCache({ maxBytes: 1_000 });
    cache.set('a', { content: 'x', mtime: at(2) });
    expect(cache.get('a', { mtime: at(1) })?.content.toString()).toBe('x');
    expect(cache.get('a', { mtime: at(2) })?.content.toString()).toBe('x');
    expect(cache.get('a', { mtime: at(3) })).toBeUndefined();
    expect(cache.get('a')).toBeUndefined();
    expect(cache.stats()).toMatchObject({ entries: 0, bytes: 0, hits: 2, misses: 2 });
  });
});

describe('filesystem-interaction/Cache size management', () => {
  const filled = (...sizes: [string, number][]) => {
    const cache = new FileCache({ maxBytes: 100 });
    for (const [path, bytes] of sizes) cache.set(path, { content: Buffer.alloc(bytes) });
    return cache;
  };
  const kept = (cache: FileCache, ...paths: string[]) => paths.filter((path) => cache.get(path) !== undefined);

  test('what was neither read nor written for longest goes first', () => {
    const cache = filled(['a', 30], ['b', 30], ['c', 30]);
    cache.get('a');
    cache.set('b', { content: Buffer.alloc(30) });
    expect(cache.set('d', { content: Buffer.alloc(30) }).evicted).toEqual({ entries: 1, bytes: 30 });
    expect(kept(cache, 'a', 'b', 'c', 'd')).toEqual(['a', 'b', 'd']);
  });

  test('as many go as it takes, by bytes and not by number', () => {
    const cache = filled(['a', 10], ['b', 10], ['c', 60], ['d', 20]);
    expect(cache.set('e', { content: Buffer.alloc(70) }).evicted).toEqual({ entries: 3, bytes: 80 });
    expect(cache.stats()).toMatchObject({ entries: 2, bytes: 90, evictions: 3 });
    expect(kept(cache, 'a', 'b', 'c', 'd', 'e')).toEqual(['d', 'e']);
  });

  test('a full cache is not over full', () => {
    const cache = filled(['a', 50], ['b', 50]);
    expect(cache.stats()).toMatchObject({ entries: 2, bytes: 100, evictions: 0 });
  });

  test('an entry that grows counts with its new size, and makes no room for itself twice', () => {
    const cache = filled(['a', 40], ['b', 40]);
    expect(cache.set('b', { content: Buffer.alloc(60) }).evicted).toEqual({ entries: 0, bytes: 0 });
    expect(cache.stats()).toMatchObject({ entries: 2, bytes: 100 });
    expect(cache.set('a', { content: Buffer.alloc(41) }).evicted).toEqual({ entries: 1, bytes: 60 });
  });

  test('an entry that is larger than the cache is refused, and changes nothing', () => {
    const cache = filled(['a', 40], ['b', 40]);
    const before = cache.stats();
    expect(() => cache.set('a', { content: Buffer.alloc(101) })).toThrow(/101/);
    expect(cache.stats()).toEqual(before);
    expect(cache.get('a')?.content).toHaveLength(40);
    expect(cache.set('c', { content: Buffer.alloc(100) }).evicted).toEqual({ entries: 2, bytes: 80 });
  });

  test('text counts in bytes', () => {
    const cache = new FileCache({ maxBytes: 5 });
    expect(() => cache.set('a', { content: 'ééé' })).toThrow();
    cache.set('a', { content: 'éé' });
    expect(cache.stats().bytes).toBe(4);
  });

  test('empty files do not grow without end', () => {
    const cache = new FileCache({ maxBytes: 1_000, maxEntries: 10 });
    for (let index = 0; index < 100; index += 1) cache.set(`${index}`, { content: '' });
    expect(cache.stats().entries).toBeLessThanOrEqual(10);
  });
});
