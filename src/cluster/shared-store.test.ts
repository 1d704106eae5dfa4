import { afterAll, beforeAll, describe } from 'vitest';
import { noRedis, type RedisServer, startRedis } from '../../tests/support/redis.ts';
import { MemoryStore } from './memory-store.ts';
import { StoreWorker } from './parent-store.fixture.ts';
import { RedisStore } from './redis-store.ts';
import { testSharedStore } from './store-contract.fixture.ts';

testSharedStore('in the memory of one process', async () => {
  const store = new MemoryStore();
  return [store, store];
});

testSharedStore('in the memory of the parent of two processes', async () => {
  const store = new MemoryStore();
  const [a, b] = [new StoreWorker(store), new StoreWorker(store)];
  await Promise.all([a.ready, b.ready]);
  return [a.asStore(), b.asStore()];
});

describe.skipIf(noRedis)(`on Redis${noRedis === undefined ? '' : ` (skipped: ${noRedis})`}`, () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    await redis[Symbol.asyncDispose]();
  });

  testSharedStore('two replicas', async () => [new RedisStore({ url: redis.url }), new RedisStore({ url: redis.url })]);
});
