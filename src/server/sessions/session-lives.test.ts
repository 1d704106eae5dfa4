import { expect, test, vi } from 'vitest';
import { MemoryStore } from '../../cluster/memory-store.ts';
import { StoreUnavailable } from '../../cluster/shared-store.ts';
import { SessionLives } from './session-lives.ts';

const HOUR = 60 * 60_000;

/** A store that can be emptied. */
class EmptiedStore extends MemoryStore {
  #inner = new MemoryStore();
  readonly #restored: (() => void)[] = [];
  override get = (key: string) => this.#inner.get(key);
  override set = (...args: Parameters<MemoryStore['set']>) => this.#inner.set(...args);
  override onRestored(listener: () => void): void {
    this.#restored.push(listener);
  }
  empty(): void {
    this.#inner = new MemoryStore();
    for (const listener of this.#restored) listener();
  }
}

class BrokenStore extends MemoryStore {
  broken = true;
  override async get(key: string) {
    if (this.broken) throw new StoreUnavailable('unreachable');
    return super.get(key);
  }
  override async set(...args: Parameters<MemoryStore['set']>) {
    if (this.broken) throw new StoreUnavailable('unreachable');
    return super.set(...args);
  }
}

test('an id lives for 24 hours after it was issued', async () => {
  const lives = new SessionLives();
  expect(await lives.isOver('a', 0, 24 * HOUR)).toBe(false);
  expect(await lives.isOver('a', 0, 24 * HOUR + 1)).toBe(true);
});

test('a session in use lives on, and its use is noted rarely', async () => {
  const store = new MemoryStore();
  const set = vi.spyOn(store, 'set');
  const lives = new SessionLives(store);
  const session = { digest: 'a', checkedAt: Number.NEGATIVE_INFINITY, notedAt: Number.NEGATIVE_INFINITY };
  for (let i = 0; i < 100; i += 1) lives.noteUse(session);
  await expect.poll(() => set.mock.calls.length).toBe(1);
  expect(set.mock.calls[0]?.[2]).toEqual({ ttlMs: 24 * HOUR });
  expect(await lives.isOver('a', 0, 48 * HOUR)).toBe(false);
  expect(await lives.isOver('b', 0, 48 * HOUR)).toBe(true);
});

test('an ended session is over for everyone, and those who have it are told', async () => {
  const store = new MemoryStore();
  const heard: string[] = [];
  const [one, other] = [new SessionLives(store), new SessionLives(store, (digest) => heard.push(digest))];
  await one.end('a');
  expect(await other.isOver('a', Date.now())).toBe(true);
  await expect.poll(() => heard).toEqual(['a']);
  // Also if the message was lost, and though it is in use.
  const session = { digest: 'a', checkedAt: 0, notedAt: 0 };
  other.reviewNextUse(session);
  other.noteUse(session);
  await expect.poll(() => heard).toEqual(['a', 'a']);
  expect(await one.isOver('a', Date.now())).toBe(true);
});

test('a store that was emptied is told again what was ended, and what is in use', async () => {
  const store = new EmptiedStore();
  const [one, other] = [new SessionLives(store), new SessionLives(store)];
  const used = { digest: 'used', checkedAt: Number.NEGATIVE_INFINITY, notedAt: Number.NEGATIVE_INFINITY };
  one.noteUse(used);
  await one.end('ended');
  await expect.poll(() => other.isOver('used', 0, 48 * HOUR)).toBe(false);
  store.empty();
  one.noteUse(used);
  // A replica that was started since has heard of nothing.
  const late = new SessionLives(store);
  await expect.poll(() => late.isOver('ended', Date.now())).toBe(true);
  await expect.poll(() => late.isOver('used', 0, 48 * HOUR)).toBe(false);
});

test('without the store an id counts for as long as its signature says', async () => {
  const store = new BrokenStore();
  const ended = vi.fn();
  const lives = new SessionLives(store, ended);
  expect(await lives.isOver('a', 0, 23 * HOUR)).toBe(false);
  expect(await lives.isOver('a', 0, 25 * HOUR)).toBe(true);
  await expect(lives.end('b')).rejects.toThrow(StoreUnavailable);
  expect(await lives.isOver('b', 0, 1)).toBe(true);
  const session = { digest: 'a', checkedAt: Number.NEGATIVE_INFINITY, notedAt: 0 };
  lives.noteUse(session);
  await expect.poll(() => session.notedAt).toBe(Number.NEGATIVE_INFINITY);
  expect(ended).not.toHaveBeenCalled();
});

test('a session that was ended without the store is ended everywhere once that is back', async () => {
  const store = new EmptiedStore();
  const heard: string[] = [];
  const [one, other] = [new SessionLives(store), new SessionLives(store, (digest) => heard.push(digest))];
  const broken = vi.spyOn(store, 'set').mockRejectedValueOnce(new StoreUnavailable('unreachable'));
  await expect(one.end('a')).rejects.toThrow(StoreUnavailable);
  broken.mockRestore();
  expect(await other.isOver('a', Date.now())).toBe(false);
  store.empty();
  await expect.poll(() => heard).toEqual(['a']);
  expect(await other.isOver('a', Date.now())).toBe(true);
});
