import { afterEach, expect, test, vi } from 'vitest';
import { MemoryStore } from '../../../cluster/memory-store.ts';
import type { Unsubscribe } from '../../../cluster/shared-store.ts';
import type { Config } from '../../../config/config.ts';
import { Viewers } from '../model/viewers.ts';
import { ApprovalQueue } from './approval-queue.ts';
import { SharedApprovals } from './shared-approvals.ts';

afterEach(() => void vi.useRealTimers());

test('nothing goes on after the end', async () => {
  vi.useFakeTimers();
  const heard = new Set<string>();
  class Store extends MemoryStore {
    override async subscribe(...args: Parameters<MemoryStore['subscribe']>): Promise<Unsubscribe> {
      const unsubscribe = await super.subscribe(...args);
      heard.add(args[0]);
      return async () => {
        heard.delete(args[0]);
        await unsubscribe();
      };
    }
  }
  const viewers = new Viewers({ roots: [] } as unknown as Config);
  const approvals = new SharedApprovals(new ApprovalQueue(viewers), viewers, new Store());
  await vi.advanceTimersByTimeAsync(1_000);
  expect([heard.size, vi.getTimerCount()]).toEqual([2, 1]);
  approvals.close();
  await vi.advanceTimersByTimeAsync(0);
  expect([heard.size, vi.getTimerCount()]).toEqual([0, 0]);
});
