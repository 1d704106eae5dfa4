import { RawClient } from '../support/raw-client.ts';
import type { TestServer } from '../support/start-server.ts';

/** Calls without a pause until told to end, each caller by itself. */
export class CeaselessCalls {
  readonly failures: string[] = [];
  readonly #callers: readonly Promise<number>[];
  #isOver = false;

  constructor(callers: readonly (() => Promise<unknown>)[]) {
    this.#callers = callers.map((call) => this.#repeat(call));
  }

  /** Resolves with how many calls there were. */
  async end(): Promise<number> {
    this.#isOver = true;
    return (await Promise.all(this.#callers)).reduce((sum, calls) => sum + calls, 0);
  }

  async #repeat(call: () => Promise<unknown>): Promise<number> {
    let calls = 0;
    while (!this.#isOver) {
      await call().catch((error: unknown) => this.failures.push(String(error)));
      calls += 1;
    }
    return calls;
  }
}

/** Reads without a pause, by clients each of which keeps its connection. */
export class KeptConnections extends CeaselessCalls {
  readonly #clients: readonly RawClient[];

  constructor({ url }: TestServer, count: number) {
    const clients = Array.from({ length: count }, () => new RawClient(url));
    super(clients.map((client) => () => client.call('read_file', { root: 'r', path: 'a.txt' })));
    this.#clients = clients;
  }

  override async end(): Promise<number> {
    const calls = await super.end();
    for (const client of this.#clients) client.close();
    return calls;
  }
}
