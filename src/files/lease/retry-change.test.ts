import { expect, onTestFinished, test } from 'vitest';
import { MemoryStore } from '../../cluster/memory-store.ts';
import { FenceError, fromSystem } from '../../fence/index.ts';
import { outcome, Sandbox } from '../../fence/sandbox.fixture.ts';
import { CancelledError, DEFAULT_CONTEXT } from '../../runtime/operation-context.ts';
import { FileError } from '../errors.ts';
import { Leases } from './leases.ts';
import { type ChangeAttempt, retryChange } from './retry-change.ts';

const { signal } = DEFAULT_CONTEXT;

function open({ shared = true } = {}): Sandbox {
  const box = new Sandbox('openat2');
  onTestFinished(() => box[Symbol.dispose]());
  if (shared) new Leases(new MemoryStore()).coordinate(box.root);
  return box;
}

/** What Node throws for an error that it has no name for. */
function stale(): Error {
  const code = 'Unknown system error -116';
  return Object.assign(new Error(code), { code, errno: -116 });
}

/** Work that fails a few times. */
function failing(error: unknown, times = 2) {
  const seen: ChangeAttempt[] = [];
  const work = async (attempt: ChangeAttempt): Promise<void> => {
    if (seen.push(attempt) <= times) throw error;
  };
  return { seen, work };
}

test.each([
  ['ESTALE', fromSystem(stale())],
  ['ESTALE of Node itself', stale()],
  ['lease_lost', new FileError('lease_lost', {})],
  ['changed_meanwhile', new FileError('changed_meanwhile', {})],
])('a change that failed with %s is tried again where other machines change files', async (_, error) => {
  const { seen, work } = failing(error);
  await retryChange([open({ shared: false }).root, open().root], signal, work);
  expect(seen.map(({ isFirst }) => isFirst)).toEqual([true, false, false]);
  expect(new Set(seen.map(({ deadline }) => deadline)).size).toBe(1);
});

test('a change that may have been made is not tried again, nor one for which there is no hope, nor in a root of one machine', async () => {
  const error = fromSystem(stale());
  const landed = failing(error);
  const land = (attempt: ChangeAttempt) => {
    attempt.onLanded();
    return landed.work(attempt);
  };
  expect(await outcome(retryChange([open().root], signal, land))).toBe('io_error');
  expect(landed.seen).toHaveLength(1);
  const denied = failing(new FenceError('permission_denied', {}));
  expect(await outcome(retryChange([open().root], signal, denied.work))).toBe('permission_denied');
  expect(denied.seen).toHaveLength(1);
  const alone = failing(error);
  expect(await outcome(retryChange([open({ shared: false }).root], signal, alone.work))).toBe('io_error');
  expect(alone.seen).toHaveLength(1);
});

test('a cancelled change is not tried again', async () => {
  const cancelled = new AbortController();
  const { seen, work } = failing(new FileError('lease_lost', {}), 1_000);
  const result = outcome(retryChange([open().root], cancelled.signal, work));
  setTimeout(() => cancelled.abort(new CancelledError()), 100);
  expect(await result).toBe('cancelled');
  const { length } = seen;
  expect(length).toBeGreaterThan(1);
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(seen).toHaveLength(length);
});
