import type { Readable, Writable } from 'node:stream';
import { type Channel, type Message, parseMessage } from './channel.ts';
import { ClientError } from './client-error.ts';

/** Carries messages as lines of JSON over two streams, as MCP does over stdio. */
export class StreamChannel implements Channel {
  onmessage: (message: Message) => void = () => {};
  onlost: (why: string) => void = () => {};
  readonly #input: Readable;
  readonly #output: Writable;
  #line: string[] = [];

  /** `input` carries what the server writes, `output` what it reads. */
  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
    input.setEncoding('utf8');
    input.on('data', (text: string) => this.#read(text));
    input.once('close', () => this.onlost('the server has ended'));
    output.on('error', () => {});
  }

  async send(message: Message): Promise<void> {
    if (!this.#output.writable) throw new ClientError('unreachable', 'the server has ended');
    this.#output.write(`${JSON.stringify(message)}\n`);
  }

  agreed(): void {}

  async close(): Promise<void> {
    this.onlost = () => {};
    this.#output.end();
    this.#input.destroy();
  }

  #read(text: string): void {
    const [first = '', ...rest] = text.split('\n');
    this.#line.push(first);
    for (const next of rest) {
      const message = parseMessage(this.#line.join(''));
      this.#line = [next];
      if (message !== undefined) this.onmessage(message);
    }
  }
}
