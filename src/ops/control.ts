import { setMaxListeners } from 'node:events';
import { RingfenceError } from '../errors.ts';

/** How a running operation is watched and stopped. */
export interface Control {
  readonly signal: AbortSignal;
  /** Tells whoever asked how far the work is. Cheap when nobody did. */
  progress(done: number, total?: number): void;
}

/** For library callers and tests that neither watch nor stop. */
export const UNCONTROLLED: Control = { signal: never(), progress: () => {} };

/** A signal that is never aborted, for any number of listeners. */
function never(): AbortSignal {
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  return signal;
}

const SLICE_MS = 4;

/**
 * Lets the rest of the server run during long synchronous work: call it between steps. It returns at once until a
 * slice of time is used up, then yields to the event loop. Throws what the signal was aborted with (`cancelled` by default).
 */
export function pacer(control: Control): () => Promise<void> | undefined {
  let sliceEnd = performance.now() + SLICE_MS;
  return () => {
    throwIfAborted(control.signal);
    if (performance.now() < sliceEnd) return undefined;
    return new Promise<void>((resolve) => {
      setImmediate(() => {
        sliceEnd = performance.now() + SLICE_MS;
        resolve();
      });
    });
  };
}

export function throwIfAborted(signal: AbortSignal): void {
  if (!signal.aborted) return;
  throw signal.reason instanceof RingfenceError ? signal.reason : new RingfenceError('cancelled', {});
}
