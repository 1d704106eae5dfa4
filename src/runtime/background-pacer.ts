import { setTimeout as sleep } from 'node:timers/promises';
import { throwIfAborted } from './operation-context.ts';

/** Works a tenth of the time, in steps too short to be noticed by a call that comes meanwhile. */
const WORK_MS = 3;
const REST_MS = 27;

/**
 * Slows down work that nobody waits for, such as the sweep after a start. Call what it returns between steps: it returns
 * undefined while there is time left, then a promise that resolves after a rest of 27 ms. The rest does not keep the process
 * alive. Throws what the signal was aborted with.
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
