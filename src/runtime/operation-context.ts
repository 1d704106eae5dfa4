import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { RingfenceError } from '../errors.ts';
import { FairScheduler } from './fair-scheduler.ts';

/** Progress, cancellation and scheduling of one running operation. */
export interface OperationContext {
  readonly signal: AbortSignal;
  /** Called often while the operation runs; an implementation that sends notifications has to throttle them. */
  progress?(done: number, total?: number): void;
  /**
   * Scheduler shared with concurrent operations. Without it, an operation still yields to the event loop, but
   * concurrent operations do not share turns.
   */
  readonly scheduler?: FairScheduler | undefined;
  /**
   * Who the operation is for. On worker threads, shares get equal time, and operations of one share divide its time
   * among them. Without it, all operations are of one share.
   */
  readonly share?: string | undefined;
  /**
   * Who asked for the operation, for the history of the roots that it changes. All that is done with the same object is
   * one change. Undefined for a program that uses the operations directly.
   */
  readonly caller?: Caller | undefined;
}

/** Who makes a change, and by which call. */
export interface Caller {
  /** The tool or command. */
  readonly tool: string;
  /** The name of the client, for people. */
  readonly client?: string | undefined;
  /** Identifies the client: only the changes of the same owner are its own. */
  readonly owner?: string | undefined;
  /** Identifies the call, in the log of calls, too. */
  readonly call?: string | undefined;
}

/** Context for callers that neither observe nor cancel an operation. */
export const DEFAULT_CONTEXT: OperationContext = { signal: never() };

/** Returns a signal that is never aborted and accepts any number of listeners. */
function never(): AbortSignal {
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  return signal;
}

/**
 * Returns a function to call between the steps of long synchronous work. It returns undefined while there is time,
 * otherwise a promise that resolves in a later turn of the event loop. Throws like `throwIfAborted` once the signal is
 * aborted.
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

/** Raised when the caller cancelled the operation or the program shuts down. Its code is `cancelled`. */
export class CancelledError extends RingfenceError<{ cancelled: object }, 'cancelled'> {
  constructor(options: { readonly cause?: unknown } = {}) {
    super('cancelled', {}, options);
  }
}

/** Throws `abortReason` if the signal is aborted. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortReason(signal);
}

/** Returns the reason of an aborted signal if that is a `RingfenceError`, otherwise a `CancelledError`. */
export function abortReason(signal: AbortSignal): RingfenceError {
  return signal.reason instanceof RingfenceError ? signal.reason : new CancelledError();
}

/** Waits for a time, and throws like `throwIfAborted` as soon as the signal is aborted. */
export async function cancellableSleep(ms: number, signal: AbortSignal): Promise<void> {
  // It fails only if the signal is aborted.
  await sleep(ms, undefined, { signal }).catch(() => {});
  throwIfAborted(signal);
}
