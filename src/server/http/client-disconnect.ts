import type { ServerResponse } from 'node:http';

/** The moment when a client no longer waits for its answer, or has it. */
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

  get hasHappened(): boolean {
    return this.#happened;
  }

  /** Made only for those who want it: it costs more than a small answer. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#happened) this.#controller.abort();
    return this.#controller.signal;
  }

  /** Has one listener called if it happens from now on; undefined for none. */
  set listener(listener: (() => void) | undefined) {
    this.#listener = listener;
  }
}
