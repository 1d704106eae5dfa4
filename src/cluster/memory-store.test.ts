import { expect, test } from 'vitest';
import { MemoryStore } from './memory-store.ts';

const LIMITS = { maxBytes: 100, maxEntries: 4, ttlMs: 60_000 };
const bytes = (length: number): Buffer => Buffer.alloc(length);

test('the blobs of all owners together are bounded, and the owners that were used least recently give way', async () => {
  const store = new MemoryStore({ maxBlobBytes: 400 });
  const kept = async (): Promise<string[]> => {
    const owners = ['a', 'b', 'c', 'd', 'e', 'f'];
    const counts = await Promise.all(owners.map(async (owner) => (await store.listBlobs(owner)).length));
    return owners.map((owner, index) => `${owner}${counts[index]}`).filter((text) => !text.endsWith('0'));
  };
  for (const owner of ['a', 'b', 'c', 'd']) {
    await store.putBlob(owner, '1', bytes(60), LIMITS);
    await store.putBlob(owner, '2', bytes(40), LIMITS);
    // What it replaces, evicts and removes is not counted.
    await store.putBlob(owner, '2', bytes(40), LIMITS);
  }
  expect(await kept()).toEqual(['a2', 'b2', 'c2', 'd2']);
  await store.getBlob('a', '1');
  await store.deleteBlobs('d', '1');
  await store.putBlob('e', '1', bytes(60), LIMITS);
  expect(await kept()).toEqual(['a2', 'b2', 'c2', 'd1', 'e1']);
  await store.putBlob('f', '1', bytes(1), LIMITS);
  expect(await kept()).toEqual(['a2', 'c2', 'd1', 'e1', 'f1']);
  await store.deleteBlobs('c');
  await store.putBlob('f', '2', bytes(90), LIMITS);
  expect(await kept()).toEqual(['a2', 'd1', 'e1', 'f2']);
});

test('a smaller bound for blobs counts from the next one on', async () => {
  const store = new MemoryStore({ maxBlobBytes: 400 });
  for (const owner of ['a', 'b', 'c']) await store.putBlob(owner, '1', bytes(100), LIMITS);
  store.limitBlobs(200);
  await store.putBlob('d', '1', bytes(10), LIMITS);
  expect(await store.listBlobs('b')).toEqual([]);
  expect(await store.listBlobs('c')).toHaveLength(1);
});
