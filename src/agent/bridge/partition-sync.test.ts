import { beforeEach, describe, expect, test } from 'vitest';
import { FileCache } from '../cache/file-cache.ts';
import { SecurityPolicy } from '../policy/security-policy.ts';
import { FilesystemBridge } from './filesystem-bridge.ts';
import { type PartitionStore, PartitionSync } from './partition-sync.ts';

class TestStore implements PartitionStore {
  readonly blobs = new Map<string, { blob: Buffer; version: string }>();
  reads = 0;
  #version = 0;

  async put(key: string, blob: Buffer) {
    this.#version += 1;
    this.blobs.set(key, { blob, version: String(this.#version) });
    return String(this.#version);
  }

  async get(key: string) {
    this.reads += 1;
    return this.blobs.get(key)?.blob;
  }

  async list() {
    return [...this.blobs].map(([key, { version }]) => ({ key, version }));
  }

  async delete(key?: string) {
    if (key === undefined) this.blobs.clear();
    else this.blobs.delete(key);
  }
}

function replica(store: PartitionStore, maxBytes = 1000, now: () => number = Date.now) {
  const policy = new SecurityPolicy({ remote: true, allowedPaths: ['.'] });
  const bridge = new FilesystemBridge({ policy, cache: new FileCache({ maxBytes, now }), now });
  return { bridge, sync: new PartitionSync(bridge, store, { now }) };
}

type Replica = ReturnType<typeof replica>;

async function call<T>({ bridge, sync }: Replica, work: (bridge: FilesystemBridge) => T): Promise<T> {
  await sync.pull();
  try {
    return work(bridge);
  } finally {
    await sync.push();
  }
}

const chunk = (index: number, content: string, total = 2) => ({ path: 'big.txt', content, chunk: { index, total } });

test('files and listings that one replica got are at the other, with all that is known of them', async () => {
  const store = new TestStore();
  const [one, other] = [replica(store), replica(store)];
  const binary = Buffer.from([0, 255, 128]);
  const mtime = new Date(7_000);
  await call(one, (bridge) => {
    bridge.cacheFiles([{ path: 'a.txt', content: 'ä', mtime, size: 2 }]);
    bridge.cacheFiles([{ path: 'b.bin', content: binary.toString('base64'), encoding: 'base64', mtime: '2026-01-01' }]);
    bridge.storeListing('docs', [{ name: 'x', type: 'file', size: 3 }], '*');
    bridge.cache.set('text', { content: 'as text' });
  });
  await other.sync.pull();
  expect([...other.bridge.cache.entries()].map(([key]) => key)).toEqual(
    [...one.bridge.cache.entries()].map(([key]) => key),
  );
  for (const path of ['a.txt', 'b.bin', 'text']) {
    expect(other.bridge.cached(path)).toEqual({
      ...one.bridge.cached(path),
      ...(path === 'a.txt' && { mtime: 7_000 }),
    });
  }
  expect(await other.bridge.listDirectory('docs', { pattern: '*' })).toMatchObject([{ name: 'x', size: 3 }]);
  const { reads } = store;
  await other.sync.pull();
  await one.sync.pull();
  expect(store.reads).toBe(reads);
});

test('what is replaced, invalidated or evicted at one replica is so at the other', async () => {
  const store = new TestStore();
  const [one, other] = [replica(store, 10), replica(store, 10)];
  await call(one, (bridge) => bridge.cacheFiles([{ path: 'a', content: '1234' }]));
  await call(other, (bridge) => bridge.cacheFiles([{ path: 'a', content: 'new' }]));
  expect((await call(one, (bridge) => bridge.cached('a')))?.text).toBe('new');
  await call(one, (bridge) => bridge.cache.delete('a'));
  expect(await call(other, (bridge) => bridge.cached('a'))).toBeUndefined();
  expect(await call(one, (bridge) => bridge.cached('a'))).toBeUndefined();
  await call(one, (bridge) => bridge.cacheFiles([{ path: 'b', content: '123456' }]));
  await call(other, (bridge) => bridge.cacheFiles([{ path: 'c', content: '123456' }]));
  await one.sync.pull();
  expect([one.bridge.cache.has('b'), one.bridge.cache.has('c')]).toEqual([false, true]);
});

test('chunks that arrive at different replicas make up one file', async () => {
  const store = new TestStore();
  const [one, other] = [replica(store), replica(store)];
  expect(await call(one, (bridge) => bridge.receiveFile(chunk(0, 'first ')))).toMatchObject({ complete: false });
  expect(await call(other, (bridge) => bridge.receiveFile(chunk(1, 'second')))).toMatchObject({ complete: true });
  expect((await call(one, (bridge) => bridge.cached('big.txt')))?.text).toBe('first second');
  expect([...store.blobs.keys()].filter((key) => key.includes('big.txt'))).toEqual(['f:big.txt']);
  expect([one.bridge.stats().chunkSets, other.bridge.stats().chunkSets]).toEqual([0, 0]);
  // The next version of the file begins anew.
  expect(await call(other, (bridge) => bridge.receiveFile(chunk(1, '2')))).toMatchObject({ complete: false });
  expect(await call(one, (bridge) => bridge.receiveFile(chunk(0, '1')))).toMatchObject({ complete: true });
  expect((await call(other, (bridge) => bridge.cached('big.txt')))?.text).toBe('12');
});

describe('the chunks of an upload that nobody finishes', () => {
  const MINUTE_MS = 60_000;
  let now: number;
  let store: TestStore;
  let one: Replica;
  let other: Replica;
  beforeEach(() => {
    now = 1_800_000_000_000;
    store = new TestStore();
    [one, other] = [replica(store, 1000, () => now), replica(store, 1000, () => now)];
  });

  const send = (to: Replica, index: number, content: string, total = 2) =>
    call(to, (bridge) => bridge.receiveFile(chunk(index, content, total)));

  test('are forgotten by all replicas after the same time, and removed from the store', async () => {
    await send(one, 5, 'abandoned', 9);
    now += 60 * MINUTE_MS;
    expect(await send(one, 0, 'first ')).toMatchObject({ complete: false, received: 1 });
    expect(await send(other, 1, 'second')).toMatchObject({ complete: true });
    expect((await call(one, (bridge) => bridge.cached('big.txt')))?.text).toBe('first second');
    expect([...store.blobs].filter(([, { blob }]) => blob.includes('abandoned'))).toEqual([]);
  });

  test('do not come back to a replica that has closed the session meanwhile', async () => {
    await send(one, 5, 'abandoned', 9);
    now += 6 * MINUTE_MS;
    one = replica(store, 1000, () => now);
    expect(await send(one, 0, 'first ')).toMatchObject({ complete: false, received: 1 });
    expect(await send(other, 1, 'second')).toMatchObject({ complete: true });
  });

  test('are forgotten also by a replica that took them over late', async () => {
    await send(one, 5, 'abandoned', 9);
    now += 4 * MINUTE_MS;
    await other.sync.pull();
    now += 2 * MINUTE_MS;
    expect(await send(one, 0, 'first ')).toMatchObject({ complete: false, received: 1 });
    expect(await send(other, 1, 'second')).toMatchObject({ complete: true });
  });

  test('do not take those of the next upload along, if another replica removes them late', async () => {
    await send(one, 0, 'abandoned', 9);
    now += 6 * MINUTE_MS;
    const { list } = store;
    const before = await store.list();
    await send(one, 0, 'first ');
    // What this replica asked for before the chunk was stored arrives after it.
    store.list = async () => before;
    await other.sync.pull();
    store.list = list;
    expect(await send(other, 1, 'second')).toMatchObject({ complete: true });
  });

  test('stay as long as others of the same file arrive, however long that takes', async () => {
    for (let index = 0; index < 4; index += 1) {
      expect(await send(one, index, `${index}`, 5)).toMatchObject({ received: index + 1 });
      now += 4 * MINUTE_MS;
    }
    expect(await send(other, 4, '4', 5)).toMatchObject({ complete: true });
    expect((await call(one, (bridge) => bridge.cached('big.txt')))?.text).toBe('01234');
  });
});

test('a store that lost everything gets it back from the replicas', async () => {
  const store = new TestStore();
  const [one, other] = [replica(store), replica(store)];
  await call(one, (bridge) => bridge.cacheFiles([{ path: 'a', content: 'kept' }]));
  store.blobs.clear();
  await call(one, () => {});
  expect((await call(other, (bridge) => bridge.cached('a')))?.text).toBe('kept');
});

test('a store that loses everything again and again gets it back once a minute', async () => {
  const store = new TestStore();
  let now = 1_800_000_000_000;
  const one = replica(store, 1000, () => now);
  await call(one, (bridge) => bridge.cacheFiles([{ path: 'a', content: 'kept' }]));
  const restored = [];
  for (let i = 0; i < 5; i += 1) {
    store.blobs.clear();
    expect((await call(one, (bridge) => bridge.cached('a')))?.text).toBe('kept');
    restored.push(store.blobs.has('f:a'));
    now += 20_000;
  }
  expect(restored).toEqual([true, false, false, true, false]);
});

test('the removal of a last file is not taken for a loss of the store', async () => {
  const store = new TestStore();
  const [one, other] = [replica(store), replica(store)];
  await call(one, (bridge) => bridge.cacheFiles([{ path: 'a', content: '1' }]));
  await call(other, () => {});
  await call(one, (bridge) => bridge.cache.delete('a'));
  expect(await call(other, (bridge) => bridge.cached('a'))).toBeUndefined();
  expect(await call(one, (bridge) => bridge.cached('a'))).toBeUndefined();
  // A later loss is still noticed.
  await call(other, (bridge) => bridge.cacheFiles([{ path: 'b', content: '2' }]));
  store.blobs.clear();
  expect((await call(other, (bridge) => bridge.cached('b')))?.text).toBe('2');
  expect((await call(one, (bridge) => bridge.cached('b')))?.text).toBe('2');
});
