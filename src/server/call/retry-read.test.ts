import { expect, test } from 'vitest';
import { fromSystem } from '../../fence/index.ts';
import { outcome } from '../../fence/sandbox.fixture.ts';
import { CancelledError } from '../../runtime/operation-context.ts';
import type { Tool } from '../../tools/tool.ts';
import { retryRead } from './retry-read.ts';
import type { ToolContext } from './tool-context.ts';

/** What Node throws for an error that it has no name for. */
function stale(): Error {
  const code = 'Unknown system error -116';
  return Object.assign(new Error(code), { code, errno: -116 });
}

/** A tool that fails a few times. */
function failing(error: unknown, times: number) {
  let runs = 0;
  const run = async () => {
    runs += 1;
    if (runs <= times) throw error;
    return { runs };
  };
  return { run } as unknown as Tool;
}

const contextOf = ({ signal }: AbortController) => ({ signal }) as ToolContext;

test.each([
  ['as it is', stale()],
  ['of the fence', fromSystem(stale())],
])('a read is run again after ESTALE, %s', async (_, error) => {
  expect(await retryRead(failing(error, 2), {}, contextOf(new AbortController()))).toEqual({ runs: 3 });
});

test('a read that is cancelled does not wait for its next attempt', async () => {
  const cancelled = new AbortController();
  let runs = 0;
  const run = async (): Promise<never> => {
    runs += 1;
    throw stale();
  };
  const result = outcome(retryRead({ run } as unknown as Tool, {}, contextOf(cancelled)));
  await expect.poll(() => runs, { timeout: 10_000, interval: 1 }).toBe(5);
  cancelled.abort(new CancelledError());
  expect(await result).toBe('cancelled');
  expect(runs).toBe(5);
});
