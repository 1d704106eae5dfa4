import { FenceError } from '../../fence/index.ts';
import { abortReason } from '../../runtime/operation-context.ts';
import type { Granted } from './lease-store.ts';

/**
 * For how long calls of one process hand a lease on among themselves before other servers get a chance: for so long, or
 * for as long as it took until the first of them saw the file as another server had left it.
 */
const COHORT_MS = 250;

/** How long to wait for a lease. */
export interface LeaseWait {
  readonly signal: AbortSignal;
  /** When to give up, as `performance.now` counts. */
  readonly deadline: number;
}

/** A call that waits for its turn. */
interface Waiting {
  take(granted: Granted | undefined): void;
  fail(error: unknown): void;
}

interface Queue {
  /** In the order in which they came. */
  readonly waiting: Set<Waiting>;
  /** When the store granted the lease to this process. */
  grantedAt: number;
  /** Until when it is handed on; undefined while the holder that got it from the store is not ready. */
  handOnUntil: number | undefined;
}

/**
 * The calls of this process that want the same lease. One at a time asks the store for it, and whoever is done with it
 * hands it on to the next. This spares the store most questions. On a shared file system it also spares the wait until
 * one machine shows what another one has written, which takes longer than an edit. The algorithm is lock cohorting:
 * https://doi.org/10.1145/2145816.2145848.
 */
export class LeaseQueue {
  readonly #queues = new Map<string, Queue>();

  /**
   * Begins the turn of a call, which `leave` ends. Returns undefined if no other call is before it. Otherwise resolves
   * once it is its turn: with the lease if the call before has handed it on, with undefined if the store has to be
   * asked. Rejects with `busy` after the deadline, with the reason of an aborted signal, and with what `fail` was told
   * to make; then there is no turn to end.
   */
  enter(key: string, wait: LeaseWait): Promise<Granted | undefined> | undefined {
    const queue = this.#queues.get(key);
    if (queue !== undefined) return waitIn(queue, wait);
    this.#queues.set(key, { waiting: new Set(), grantedAt: 0, handOnUntil: undefined });
    return undefined;
  }

  /** Notes that the store has just granted the lease to the call whose turn it is. */
  granted(key: string): void {
    const queue = this.#queues.get(key);
    if (queue === undefined) return;
    queue.grantedAt = performance.now();
    queue.handOnUntil = undefined;
  }

  /** Notes that the call whose turn it is can begin with its change. */
  ready(key: string): void {
    const queue = this.#queues.get(key);
    if (queue === undefined) return;
    const now = performance.now();
    queue.handOnUntil ??= now + Math.max(COHORT_MS, now - queue.grantedAt);
  }

  /** Reports whether the lease should be handed on: a call waits for it, and other servers have not waited for long. */
  shouldHandOn(key: string): boolean {
    const queue = this.#queues.get(key);
    return queue !== undefined && queue.waiting.size > 0 && performance.now() < (queue.handOnUntil ?? 0);
  }

  /** Ends a turn, and gives the next call the lease, or the turn to ask for it. Returns false if no call waits. */
  leave(key: string, granted?: Granted): boolean {
    const [next] = this.#queues.get(key)?.waiting ?? [];
    if (next === undefined) this.#queues.delete(key);
    else next.take(granted);
    return next !== undefined;
  }

  /** Ends a turn, and fails all calls that wait, each with an error of its own: it will say where that call failed. */
  fail(key: string, newError: () => Error): void {
    const waiting = this.#queues.get(key)?.waiting ?? [];
    this.#queues.delete(key);
    for (const call of waiting) call.fail(newError());
  }
}

function waitIn({ waiting }: Queue, { signal, deadline }: LeaseWait): Promise<Granted | undefined> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      waiting.delete(call);
    };
    const call: Waiting = {
      take: (granted) => {
        end();
        resolve(granted);
      },
      fail: (error) => {
        end();
        reject(error);
      },
    };
    const giveUp = (): void => call.fail(signal.aborted ? abortReason(signal) : new FenceError('busy', {}));
    const timer = setTimeout(giveUp, deadline - performance.now());
    signal.addEventListener('abort', giveUp);
    waiting.add(call);
  });
}
