import { describe, expect, test } from 'vitest';
import { deferred } from '../deferred.fixture.ts';
import { SecurityPolicy } from '../policy/security-policy.ts';
import type { SampleAnswer } from '../sample.ts';
import { AgentPartitions, type AgentPartitionsOptions } from './agent-partitions.ts';
import type { FilesystemBridge } from './filesystem-bridge.ts';

const partitionsOf = (options: Partial<AgentPartitionsOptions> = {}) =>
  new AgentPartitions({
    policy: new SecurityPolicy({ remote: true }),
    cacheBytes: 100,
    maxTotalBytes: 250,
    ...options,
  });

const fill = (bridge: FilesystemBridge, bytes: number, name = 'a') =>
  bridge.cacheFiles([{ path: `docs/${name}`, content: 'x'.repeat(bytes) }]);

test('a client sees its own files and never those of another', () => {
  const partitions = partitionsOf();
  partitions.of('anna').cacheFiles([{ path: 'docs/a', content: 'of anna' }]);
  expect(partitions.of('anna').cached('docs/a')?.text).toBe('of anna');
  expect(partitions.of('ben').cached('docs/a')).toBeUndefined();
  expect(partitions.of('ben').stats()).toMatchObject({ hits: 0, misses: 1, entries: 0 });
  expect(partitions.of('__proto__').cached('docs/a')).toBeUndefined();
  expect(partitions.stats()).toMatchObject({ partitions: 3, bytes: 7, maxTotalBytes: 250, evictions: 0 });
});

test('a dropped client starts with an empty cache', () => {
  const partitions = partitionsOf();
  fill(partitions.of('anna'), 10);
  expect([partitions.drop('anna'), partitions.drop('anna')]).toEqual([true, false]);
  expect(partitions.stats()).toMatchObject({ partitions: 0, bytes: 0 });
  expect(partitions.of('anna').cached('docs/a')).toBeUndefined();
});

test('lookups of clients that are gone still count', () => {
  const partitions = partitionsOf({ maxPartitions: 2 });
  for (const key of ['a', 'b', 'c']) {
    fill(partitions.of(key), 10);
    partitions.of(key).cached('docs/a');
  }
  partitions.of('c').cached('docs/missing');
  expect(partitions.stats()).toMatchObject({ partitions: 2, entries: 2, hits: 3, misses: 1 });
  for (const key of ['b', 'c']) partitions.drop(key);
  expect(partitions.stats()).toMatchObject({ partitions: 0, entries: 0, hits: 3, misses: 1 });
});

describe('the least recently used partition is evicted', () => {
  test('when all together hold too many bytes', () => {
    const partitions = partitionsOf();
    for (const key of ['a', 'b']) fill(partitions.of(key), 100);
    partitions.of('a');
    fill(partitions.of('c'), 100);
    expect(partitions.stats()).toMatchObject({ partitions: 2, bytes: 200, evictions: 1 });
    expect(partitions.of('a').cached('docs/a')).toBeDefined();
    expect(partitions.of('b').cached('docs/a')).toBeUndefined();
  });

  test('when there are too many', () => {
    const partitions = partitionsOf({ maxPartitions: 2 });
    const [first] = ['a', 'b', 'c'].map((key) => partitions.of(key));
    expect(partitions.stats()).toMatchObject({ partitions: 2, evictions: 1 });
    expect(partitions.of('a')).not.toBe(first);
  });

  test('counting fetched files, listings and incomplete files', async () => {
    const partitions = partitionsOf({ maxTotalBytes: 150 });
    fill(partitions.of('a'), 60);
    await partitions.of('b').readFile('docs/a', { sample: async () => 'x'.repeat(95) });
    expect(partitions.stats()).toMatchObject({ partitions: 1, bytes: 95 });
    fill(partitions.of('c'), 10);
    expect(partitions.stats()).toMatchObject({ partitions: 2, bytes: 105 });
    partitions.of('c').receiveFile({ path: 'docs/b', content: 'x'.repeat(60), chunk: { index: 0, total: 2 } });
    expect(partitions.stats()).toMatchObject({ partitions: 1, bytes: 70 });
    fill(partitions.of('c'), 90);
    expect(partitions.stats()).toMatchObject({ partitions: 1, bytes: 150 });
    fill(partitions.of('c'), 10, 'more');
    expect(partitions.stats()).toMatchObject({ bytes: 100 });
    expect(partitions.of('c').stats()).toMatchObject({ chunkSets: 0, entries: 2 });
  });

  test('but one with a pending question only after all others', async () => {
    const partitions = partitionsOf();
    const answer = deferred<SampleAnswer>();
    const waiting = partitions.of('a').readFile('docs/a', { sample: () => answer.promise });
    await new Promise(setImmediate);
    for (const key of ['b', 'c', 'd']) fill(partitions.of(key), 100);
    partitions.of('a').cacheFiles([{ path: 'docs/a', content: 'handed over' }]);
    answer.resolve('Done.');
    expect(await waiting).toBe('handed over');
  });
});

test('the limit for all partitions also limits each one', () => {
  const partitions = partitionsOf({ cacheBytes: 1000, maxTotalBytes: 50 });
  expect(() => fill(partitions.of('a'), 51)).toThrow(/limit is 50/);
});

test('audit events carry the client key', async () => {
  const events: unknown[] = [];
  const partitions = partitionsOf({
    audit: ({ operation, result, violation }, client) => events.push([client, operation, result, violation]),
  });
  fill(partitions.of('anna'), 1);
  await partitions
    .of('ben')
    .readFile('../x')
    .catch(() => {});
  expect(events).toEqual([
    ['anna', 'cache_file', 'ok', undefined],
    ['ben', 'read_file', 'error', 'traversal'],
  ]);
});
