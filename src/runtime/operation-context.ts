import { setMaxListeners } from 'node:events';
import { RingfenceError } from '../errors.ts';
import { FairScheduler } from './fair-scheduler.ts';

/** How a running operation is watched and stopped. */
export interface OperationContext {
  readonly signal: AbortSignal;
  /** Told how far the work is, often: an implementation that sends reports has to thin them out. */
  progress?(done: number, total?: number): void;
  /** Shared with all that is done at the same time; without it the work only gives way by itself. */
  readonly scheduler?: FairScheduler | undefined;
}

/** For library callers and tests that neither watch nor stop. */
export const DEFAULT_CONTEXT: OperationContext = { signal: never() };

/** A signal that is never aborted, for any number of listeners. */
function never(): AbortSignal {
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  return signal;
}

/**
 * Lets the rest of the server run during long synchronous work: call it between steps. It returns at once as long as there is
 * time, then waits for the next turn of the event loop in which it may go on. Throws what the signal was aborted with
 * (`cancelled` by default).
 */
export function yieldPoint({
  signal,
  scheduler = new FairScheduler(),
}: Pick<OperationContext, 'signal' | 'scheduler'>): () => Promise<void> | undefined {
  return () => {
    throwIfAborted(signal);
    return scheduler.yieldTurn();
  };
}

/** The caller gave up, or the program stops. */
export class CancelledError extends RingfenceError<{ cancelled: object }, 'cancelled'> {
  constructor(options: { readonly cause?: unknown } = {}) {
    super('cancelled', {}, options);
  }
}

export function throwIfAborted(signal: AbortSignal): void {
  if (!signal.aborted) return;
  throw signal.reason instanceof RingfenceError ? signal.reason : new CancelledError();
}
