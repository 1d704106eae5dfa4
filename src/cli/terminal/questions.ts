import { createInterface, type Interface } from 'node:readline';

/** Reports whether somebody is there to ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks the person at the terminal. Close it after the last question. */
export class Questions implements Disposable {
  readonly #reader: Interface = createInterface({ input: process.stdin, output: process.stderr });
  readonly #lines = this.#reader[Symbol.asyncIterator]();

  /** Asks a question. Returns the answer without spaces around it; undefined once there are no more answers. */
  async ask(question: string): Promise<string | undefined> {
    this.#reader.setPrompt(question);
    this.#reader.prompt();
    const { value, done } = await this.#lines.next();
    if (done === true) process.stderr.write('\n');
    return done === true ? undefined : value.trim();
  }

  /** Asks a question that only `y` or `yes` agrees to. */
  async confirm(question: string): Promise<boolean> {
    const answer = await this.ask(`${question} [y/N] `);
    return /^y(es)?$/i.test(answer ?? '');
  }

  [Symbol.dispose](): void {
    this.#reader.close();
  }
}
