import type { ResponseSink } from './replay-buffer.ts';

/**
 * Stands for the connection of a client that came back at another replica: what ends the response is kept for it. What
 * is written before, such as progress, is lost, as it is for a client that is gone.
 */
export class KeptResponse implements ResponseSink {
  readonly headersSent = true;
  readonly writableLength = 0;
  readonly writableEnded = false;
  readonly #keep: (rest: Buffer) => void;

  /** Takes what is called with the last bytes of the response. */
  constructor(keep: (rest: Buffer) => void) {
    this.#keep = keep;
  }

  writeHead(): this {
    return this;
  }

  flushHeaders(): void {}

  write(): true {
    return true;
  }

  /** Keeps the last bytes. Without any, another connection has replaced this one, and there is nothing to keep. */
  end(rest?: Uint8Array | string, encoding?: BufferEncoding): void {
    if (rest !== undefined) this.#keep(typeof rest === 'string' ? Buffer.from(rest, encoding) : Buffer.from(rest));
  }
}
