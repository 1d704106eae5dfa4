import type { ServerResponse } from 'node:http';

/** Observes the end of an HTTP response: the client closed the connection, or the response was sent. */
export class ClientDisconnect {
  #happened = false;
  #controller: AbortController | undefined;
  #listener: (() => void) | undefined;

  constructor(response: ServerResponse) {
    response.once('close', () => {
      this.#happened = true;
      this.#listener?.();
      this.#controller?.abort();
    });
  }

  /** Whether the response has ended. */
  get hasHappened(): boolean {
    return this.#happened;
  }

  /** Aborted when the response ends. Made on demand, because making one costs more than a small response. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#happened) this.#controller.abort();
    return this.#controller.signal;
  }

  /** Resolves when the response ends. */
  get promise(): Promise<void> {
    if (this.#happened) return Promise.resolve();
    return new Promise((resolve) => {
      this.listener = resolve;
    });
  }

  /** Called when the response ends, if that is still to come. There is one listener at most; undefined removes it. */
  set listener(listener: (() => void) | undefined) {
    this.#listener = listener;
  }
}
