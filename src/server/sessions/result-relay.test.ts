import { setTimeout as later } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { MemoryStore } from '../../cluster/memory-store.ts';
import { StoreUnavailable } from '../../cluster/shared-store.ts';
import { DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { ResultRelay } from './result-relay.ts';

type Keep = (rest: Buffer | undefined) => void;

const WANTED = { digest: 'session', eventId: '1-0.owner.Nw' };
const { signal } = DEFAULT_CONTEXT;

/** A store that can be unavailable. */
class FlakyStore extends MemoryStore {
  isGone = false;
  override async publish(...args: Parameters<MemoryStore['publish']>) {
    this.#check();
    return super.publish(...args);
  }
  override async putBlob(...args: Parameters<MemoryStore['putBlob']>) {
    this.#check();
    return super.putBlob(...args);
  }
  override async getBlob(...args: Parameters<MemoryStore['getBlob']>) {
    this.#check();
    return super.getBlob(...args);
  }
  #check(): void {
    if (this.isGone) throw new StoreUnavailable('unreachable');
  }
}

/** Two replicas: one that may run the call, and one at which its client waits. */
function twoReplicas(store = new FlakyStore()) {
  const asked: Keep[] = [];
  const owner = new ResultRelay(store, 'owner', (wanted, keep) => {
    expect(wanted).toEqual(WANTED);
    asked.push(keep);
  });
  const other = new ResultRelay(store, 'other', () => {});
  onTestFinished(async () => {
    await Promise.all([owner.close(), other.close()]);
  });
  return { store, owner, other, asked };
}

test('the rest of a stream reaches the replica at which its client waits, and no other', async () => {
  const { other, owner, asked } = twoReplicas();
  const rest = other.rest('owner', WANTED, signal);
  await expect.poll(() => asked.length).toBe(1);
  const sent = performance.now();
  asked[0]?.(Buffer.from('the rest'));
  expect(String(await rest)).toBe('the rest');
  // It is woken, and does not only look again now and then.
  expect(performance.now() - sent).toBeLessThan(900);
  expect(await owner.rest('owner', WANTED, signal)).toBeUndefined();
});

test('what is not kept is said at once, and an empty rest is one', async () => {
  const { other, asked } = twoReplicas();
  for (const [kept, expected] of [
    [undefined, undefined],
    [Buffer.alloc(0), ''],
  ] as const) {
    const rest = other.rest('owner', WANTED, signal);
    await expect.poll(() => asked.length).toBe(1);
    asked.pop()?.(kept);
    expect((await rest)?.toString()).toBe(expected);
  }
});

test('a replica that does not hear is gone after seconds, one that hears is waited for', {
  timeout: 30_000,
}, async () => {
  const { other, asked } = twoReplicas();
  const started = performance.now();
  let isOver = false;
  const long = other.rest('owner', WANTED, signal).finally(() => {
    isOver = true;
  });
  expect(await other.rest('gone', { ...WANTED, eventId: '1-0.gone.Nw' }, signal)).toBeUndefined();
  expect(performance.now() - started).toBeGreaterThan(4_000);
  await later(2_000);
  expect(isOver).toBe(false);
  asked.at(-1)?.(Buffer.from('late'));
  expect(String(await long)).toBe('late');
});

test('a store that is gone for some seconds loses nothing', { timeout: 30_000 }, async () => {
  const { store, other, asked } = twoReplicas();
  const rest = other.rest('owner', WANTED, signal);
  await expect.poll(() => asked.length).toBe(1);
  store.isGone = true;
  asked[0]?.(Buffer.from('lost on the way'));
  await later(7_000);
  store.isGone = false;
  // It is asked again, and has it still.
  await expect.poll(() => asked.length, { timeout: 5_000 }).toBeGreaterThan(1);
  asked.at(-1)?.(Buffer.from('the rest'));
  expect(String(await rest)).toBe('the rest');
});

test('a client that goes away is waited for no longer, and a replica that stops has left what it has', async () => {
  const { store, owner, other, asked } = twoReplicas();
  const gone = new AbortController();
  const rest = other.rest('owner', WANTED, gone.signal);
  await expect.poll(() => asked.length).toBe(1);
  gone.abort();
  await expect(rest).rejects.toThrow();
  asked[0]?.(Buffer.from('the rest'));
  await owner.close();
  expect(await store.listBlobs('results:session')).toHaveLength(1);
});

test('results that end together while the store is slow are bounded, and those left out are kept later', async () => {
  const waiting: (() => void)[] = [];
  class SlowStore extends MemoryStore {
    override async putBlob(...args: Parameters<MemoryStore['putBlob']>) {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return super.putBlob(...args);
    }
  }
  const store = new SlowStore();
  const result = Buffer.alloc(15 * 1024 * 1024);
  const asked = new Map<string, Keep>();
  let haveEnded = false;
  const owner = new ResultRelay(store, 'owner', ({ eventId }, keep) => {
    if (haveEnded) keep(result);
    else asked.set(eventId, keep);
  });
  const other = new ResultRelay(store, 'other', () => {});
  onTestFinished(async () => {
    await Promise.all([owner.close(), other.close()]);
  });
  const ids = ['1', '2', '3', '4'];
  const rests = ids.map((eventId) => other.rest('owner', { digest: `session ${eventId}`, eventId }, signal));
  await expect.poll(() => asked.size).toBe(4);
  haveEnded = true;
  for (const keep of asked.values()) keep(result);
  expect(waiting).toHaveLength(2);
  const timer = setInterval(() => {
    for (const put of waiting.splice(0)) put();
  }, 100);
  expect((await Promise.all(rests)).map((rest) => rest?.length)).toEqual(ids.map(() => result.length));
  clearInterval(timer);
});

test('what no replica sends changes nothing', async () => {
  const { store, asked } = twoReplicas();
  for (const text of [
    '',
    'null',
    '[]',
    '7',
    '{"kind":"wanted"}',
    '{"kind":"x","digest":"","eventId":"","from":""}',
    '{',
  ]) {
    await store.publish('results of owner', text);
  }
  await later(50);
  expect(asked).toEqual([]);
});
