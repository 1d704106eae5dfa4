import type { RingfenceError } from '../../errors.ts';
import { CancelledError } from '../../runtime/operation-context.ts';
import { InFlight } from './in-flight.ts';

/** One call under way, and the one way to stop it: for the client, the time limit and the shutdown. */
export class RunningCall {
  #controller: AbortController | undefined;
  #reason: RingfenceError | undefined;

  /** Made on demand: most calls are over before anything asks for it, and making one costs more than a small read. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: RingfenceError): void {
    this.#reason ??= reason;
    this.#controller?.abort(this.#reason);
  }

  /** The client does not want the result any more, or is gone. */
  cancel(): void {
    this.abort(new CancelledError());
  }
}

/** The calls under way, so that a shutdown can wait for them and stop those that take too long. */
export class RunningCalls {
  readonly #running = new InFlight<RunningCall>();
  #whenIdle: (() => void)[] = [];

  get size(): number {
    return this.#running.size;
  }

  start(): RunningCall {
    const call = new RunningCall();
    this.#running.add(call);
    return call;
  }

  end(call: RunningCall): void {
    this.#running.delete(call);
    if (this.#running.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Waits for all calls at most this long, then cancels the rest and gives them a moment to stop. Returns how many it cancelled. */
  async drain(milliseconds: number, momentMs = 500): Promise<number> {
    await this.#idle(milliseconds);
    const late = this.#running.size;
    for (const call of this.#running.all()) call.cancel();
    await this.#idle(momentMs);
    return late;
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
