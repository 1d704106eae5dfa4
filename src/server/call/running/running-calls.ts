import type { RingfenceError } from '../../../errors.ts';
import { CancelledError } from '../../../runtime/operation-context.ts';
import type { Client } from '../../../tools/client.ts';
import type { CallSlot } from '../../limits/client-limits.ts';
import { InFlight } from './in-flight.ts';

/** What a running call is about, for people who watch. */
export interface CallInProgress {
  readonly dialect: string;
  readonly request: { readonly name: string; readonly client: Client; readonly clientName?: string | undefined };
  /** The root and path that it uses, as far as they are known. */
  readonly subject: { readonly root: string | undefined; readonly path: string | undefined };
  /** When it began, as `performance.now` counts. */
  readonly started: number;
}

/** One running call. The client, the time limit, the shutdown and an operator all stop it by `abort`. */
export class RunningCall {
  /** Undefined until its tool is called. */
  inProgress: CallInProgress | undefined = undefined;
  /** Whether it waits for a person to agree. */
  isWaiting = false;
  /** How much is done, as its tool said last; undefined if it said nothing. */
  done: number | undefined = undefined;
  /** Of how much; undefined if it is not known. */
  total: number | undefined = undefined;
  #controller: AbortController | undefined;
  #reason: RingfenceError | undefined;

  /**
   * Aborted when the call has to stop. Made on demand: it costs more than a small read, and most calls end without one.
   */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Stops the call with an error. Only the first error counts. */
  abort(reason: RingfenceError): void {
    this.#reason ??= reason;
    this.#controller?.abort(this.#reason);
  }

  /** Stops the call with `cancelled`: the client no longer wants the result, or is gone. */
  cancel(): void {
    this.abort(new CancelledError());
  }
}

/** All running calls, so that a shutdown can wait for them and stop those that take too long. */
export class RunningCalls {
  readonly #running = new InFlight<RunningCall>();
  #whenIdle: (() => void)[] = [];
  #awaited: { readonly calls: Set<RunningCall>; resolve(): void }[] = [];
  #started = 0;

  /** How many calls have been started so far. */
  get started(): number {
    return this.#started;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Returns the calls that are running now. */
  all(): RunningCall[] {
    return this.#running.all();
  }

  /** Adds a call, which counts as running until `end`. */
  start(): RunningCall {
    const call = new RunningCall();
    this.#started += 1;
    this.#running.add(call);
    return call;
  }

  end(call: RunningCall): void {
    this.#running.delete(call);
    if (this.#awaited.length > 0) this.#endAwaited(call);
    if (this.#running.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Resolves when all calls that run now have ended, whatever is started meanwhile. */
  async presentEnded(): Promise<void> {
    const calls = new Set(this.#running.all());
    if (calls.size > 0) await new Promise<void>((resolve) => this.#awaited.push({ calls, resolve }));
  }

  /**
   * Waits for all calls, at most `milliseconds`, then cancels the rest and gives them another `stopMs` to end. Returns
   * how many it cancelled; some of them may still be running.
   */
  async drain(milliseconds: number, stopMs = 500): Promise<number> {
    await this.#idle(milliseconds);
    const late = this.#running.size;
    for (const call of this.#running.all()) call.cancel();
    await this.#idle(stopMs);
    return late;
  }

  #endAwaited(call: RunningCall): void {
    this.#awaited = this.#awaited.filter(({ calls, resolve }) => {
      calls.delete(call);
      if (calls.size === 0) resolve();
      return calls.size > 0;
    });
  }

  async #idle(milliseconds: number): Promise<void> {
    if (this.#running.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#whenIdle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

interface CallTimerOptions {
  /** Called when the time is up. */
  expire(): void;
  /** Runs work after this turn of the event loop. */
  defer(work: () => void): void;
  /** The place of the call, which is free while the timer is paused; undefined if places are not limited. */
  readonly slot?: CallSlot | undefined;
}

/**
 * Limits the time of a call. Time for which it is paused does not count. A system timer is only set at the end of the
 * turn of the event loop: most calls have ended by then, and a timer costs more than such a call.
 */
export class CallTimer {
  readonly #expire: () => void;
  readonly #slot: CallSlot | undefined;
  #left: number;
  #since = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #paused = 0;
  #stopped = false;

  constructor(milliseconds: number, { expire, defer, slot }: CallTimerOptions) {
    this.#left = milliseconds;
    this.#expire = expire;
    this.#slot = slot;
    defer(() => this.#run());
  }

  /** Pauses the timer until a promise settles, and returns that promise's result. Pauses may overlap. */
  async pauseFor<T>(work: Promise<T>): Promise<T> {
    this.#paused += 1;
    if (this.#paused === 1) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#left -= performance.now() - this.#since;
      this.#slot?.lend();
    }
    try {
      return await work;
    } finally {
      this.#paused -= 1;
      if (this.#paused === 0) {
        this.#since = performance.now();
        this.#slot?.takeBack();
        this.#run();
      }
    }
  }

  /** Stops the timer for good. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #run(): void {
    if (this.#stopped || this.#paused > 0) return;
    const passed = performance.now() - this.#since;
    this.#timer ??= setTimeout(this.#expire, Math.max(0, this.#left - passed));
  }
}
