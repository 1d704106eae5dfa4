import { setTimeout as sleep } from 'node:timers/promises';
import { throwIfAborted } from './operation-context.ts';

/** Duty cycle of 10 %: work for 3 ms, rest for 27 ms. A request that arrives meanwhile waits at most one work slice. */
const WORK_MS = 3;
const REST_MS = 27;

/**
 * Paces background work so that it takes about a tenth of the thread's time. Call the returned function between steps:
 * it returns undefined while the current work slice lasts, then a promise that resolves after a rest of 27 ms. The rest
 * does not keep the process alive.
 *
 * Throws the signal's reason once the signal is aborted (see `throwIfAborted`), also during a rest. Steps themselves
 * are not interrupted.
 */
export function backgroundPacer(signal: AbortSignal): () => Promise<void> | undefined {
  let end = performance.now() + WORK_MS;
  const rest = async (): Promise<void> => {
    await sleep(REST_MS, undefined, { ref: false, signal }).catch(() => throwIfAborted(signal));
    end = performance.now() + WORK_MS;
  };
  return () => {
    throwIfAborted(signal);
    return performance.now() < end ? undefined : rest();
  };
}
