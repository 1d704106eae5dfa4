import { expect, test } from 'vitest';
import { MemoryStore } from '../../cluster/memory-store.ts';
import { StoreUnavailable } from '../../cluster/shared-store.ts';
import { newReplicaId, ReplicaRelay } from './replica-relay.ts';

test('what no replica sends changes nothing', async () => {
  const store = new MemoryStore();
  const delivered: unknown[] = [];
  const relay = new ReplicaRelay(store, newReplicaId(), (...message) => delivered.push(message));
  for (const text of ['', 'null', '[]', '7', '{"digest":1}', '{"digest":"d","from":"x","message":null}', '{"a":']) {
    await store.publish('replicas', text);
  }
  expect(delivered).toEqual([]);
  await new ReplicaRelay(store, newReplicaId(), () => {}).accept('d', {
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
  });
  await expect.poll(() => delivered).toEqual([['d', { jsonrpc: '2.0', method: 'notifications/cancelled' }]]);
  await relay.close();
});

test('an answer to a replica that is gone is not taken', async () => {
  const store = new MemoryStore();
  const delivered: unknown[] = [];
  const asking = new ReplicaRelay(store, newReplicaId(), (...message) => delivered.push(message));
  const receiving = new ReplicaRelay(store, newReplicaId(), () => {});
  const answer = { jsonrpc: '2.0', id: `${asking.id}:7`, result: {} };
  expect(await receiving.accept('d', answer)).toBeUndefined();
  await expect.poll(() => delivered).toEqual([['d', { ...answer, id: 7 }]]);
  asking.close();
  await expect.poll(() => receiving.accept('d', answer).catch((error) => error)).toBeInstanceOf(StoreUnavailable);
  receiving.close();
});
