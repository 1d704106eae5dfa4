import { once } from 'node:events';
import { setTimeout as later } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { MemoryStore } from './memory-store.ts';
import { StoreWorker } from './parent-store.fixture.ts';
import type { SharedStore } from './shared-store.ts';

/** Longer than a worker waits for an answer. */
const LATE_MS = 1_500;

let worker: StoreWorker;
afterEach(() => void worker.child.kill('SIGKILL'));

/** A store that has subscribed to a channel only after a while. */
class LateStore extends MemoryStore {
  subscribed = 0;

  override async subscribe(...args: Parameters<SharedStore['subscribe']>): ReturnType<SharedStore['subscribe']> {
    await later(LATE_MS);
    this.subscribed += 1;
    return super.subscribe(...args);
  }
}

async function startWorker(store: SharedStore): Promise<void> {
  worker = new StoreWorker(store);
  await worker.ready;
}

test('a parent that subscribes late fails no worker, which hears messages from then on', async () => {
  const late = new LateStore();
  await startWorker(late);
  const store = worker.asStore();
  const heard: string[] = [];
  await store.subscribe('c', (message) => heard.push(message));
  await expect.poll(() => late.subscribed, { timeout: 10_000 }).toBe(1);
  await later(50);
  await late.publish('c', 'x');
  await expect.poll(() => heard).toEqual(['x']);
});

test('a subscription that is ended before the parent has made it is ended', async () => {
  const late = new LateStore();
  await startWorker(late);
  const store = worker.asStore();
  const heard: string[] = [];
  const unsubscribe = await store.subscribe('c', (message) => heard.push(message));
  await unsubscribe();
  let passedOn = 0;
  worker.child.send = new Proxy(worker.child.send, {
    apply: (send, child, args) => {
      if (args[0]?.notice === 'store message') passedOn += 1;
      return Reflect.apply(send, child, args);
    },
  });
  await expect.poll(() => late.subscribed, { timeout: 10_000 }).toBe(1);
  await later(50);
  await late.publish('c', 'x');
  await later(200);
  expect({ heard, passedOn }).toEqual({ heard: [], passedOn: 0 });
});

test('a parent that is gone does not keep a worker from unsubscribing', async () => {
  await startWorker(new MemoryStore());
  await worker.asStore().subscribe('c', () => {});
  const exit = once(worker.child, 'exit');
  worker.child.disconnect();
  expect(await exit).toEqual([0, null]);
});
