import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { MemoryStore } from '../../cluster/memory-store.ts';
import { CancelledError, DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { FolderMoves } from './folder-moves.ts';
import { Leases } from './leases.ts';
import { CACHED_MS } from './stamp.ts';

const { signal } = DEFAULT_CONTEXT;
/** Less than machines show a moved folder where it was, however slow this one is. */
const SHORT_MS = CACHED_MS * 0.8;

/** A store whose notes take longer than a read waits for one. */
class SlowStore extends MemoryStore {
  override async leaseNote(key: string) {
    await sleep(400);
    return super.leaseNote(key);
  }
}

function servers(store = new MemoryStore()): [FolderMoves, FolderMoves] {
  return [new FolderMoves(new Leases(store)), new FolderMoves(new Leases(store))];
}

async function timeOf(work: Promise<void>): Promise<number> {
  const started = performance.now();
  await work;
  return performance.now() - started;
}

test('a server waits once for the move of another one, and never for its own', async () => {
  const [mover, other] = servers();
  await mover.tell();
  expect(await timeOf(mover.settle(signal))).toBeLessThan(SHORT_MS);
  expect(await timeOf(other.settle(signal))).toBeGreaterThan(SHORT_MS);
  expect(await timeOf(other.settle(signal))).toBeLessThan(SHORT_MS);
});

test('a move of its own does not let a server forget one that it has not heard of', async () => {
  const [mover, other] = servers();
  await mover.tell();
  await other.tell();
  expect(await timeOf(other.settle(signal))).toBeGreaterThan(SHORT_MS);
});

test('a slow store is waited for', async () => {
  const [mover, other] = servers(new SlowStore());
  await mover.tell();
  expect(await timeOf(other.settle(signal))).toBeGreaterThan(SHORT_MS);
});

test('who waits for a move stops when the call is cancelled', async () => {
  const [mover, other] = servers();
  await mover.tell();
  const cancelled = new AbortController();
  const waiting = other.settle(cancelled.signal);
  cancelled.abort(new CancelledError());
  await expect(waiting).rejects.toThrow(CancelledError);
});
