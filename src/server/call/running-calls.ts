import type { RingfenceError } from '../../errors.ts';
import { InFlight } from '../../runtime/in-flight.ts';
import { CancelledError } from '../../runtime/operation-context.ts';

/**
 * One call under way. Most are over before anyone asks for their signal, and making one costs more than a small read, so
 * it is made on demand.
 */
export class RunningCall {
  readonly #client: AbortSignal | undefined;
  #controller: AbortController | undefined;
  #reason: RingfenceError | undefined;

  constructor(client?: AbortSignal) {
    this.#client = client;
  }

  /** Aborted when the client cancels, when time is up, or when the server stops. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      this.#client?.addEventListener('abort', this.#cancel, { once: true });
      if (this.#client?.aborted) this.#cancel();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  abort(reason: RingfenceError): void {
    this.#reason ??= reason;
    this.#controller?.abort(this.#reason);
  }

  end(): void {
    this.#client?.removeEventListener('abort', this.#cancel);
  }

  readonly #cancel = (): void => this.abort(new CancelledError());
}

/** The calls under way, so that a shutdown can wait for them and stop those that take too long. */
export class RunningCalls {
  readonly #running = new InFlight<RunningCall>();
  #whenIdle: (() => void)[] = [];

  get size(): number {
    return this.#running.size;
  }

  /** `client` is aborted when the client of the call cancels it or goes away. */
  start(client?: AbortSignal): RunningCall {
    const call = new RunningCall(client);
    this.#running.add(call);
    return call;
  }

  end(call: RunningCall): void {
    call.end();
    this.#running.delete(call);
    if (this.#running.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** Waits for all calls, at most so long; then cancels the rest and gives them a moment to stop. Tells how many those were. */
  async drain(milliseconds: number, momentMs = 500): Promise<number> {
    await this.#idle(milliseconds);
    const late = this.#running.size;
    for (const call of this.#running.all()) call.abort(new CancelledError());
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
