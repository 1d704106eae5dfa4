import { setTimeout as rest } from 'node:timers/promises';
import { throwIfAborted } from './operation-context.ts';

/** A tenth of the thread's time, in steps that nobody notices. */
const WORK_MS = 3;
const REST_MS = 27;

/**
 * Like `pacer`, for work that nobody waits for: after a little of it comes a long rest, so that it takes next to nothing
 * from the calls that come meanwhile. It does not keep the process alive.
 */
export function backgroundPacer(signal: AbortSignal): () => Promise<void> | undefined {
  let end = performance.now() + WORK_MS;
  const untilRested = async (): Promise<void> => {
    await rest(REST_MS, undefined, { ref: false, signal }).catch(() => throwIfAborted(signal));
    end = performance.now() + WORK_MS;
  };
  return () => {
    throwIfAborted(signal);
    return performance.now() < end ? undefined : untilRested();
  };
}
