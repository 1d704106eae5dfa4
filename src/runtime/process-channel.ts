import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';

/** One end of the channel between a process and its parent: a child, or `process` itself. */
export type ChannelEnd = ChildProcess | NodeJS.Process;

interface Call {
  readonly call: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

type Message =
  | Call
  | { readonly notice: string; readonly args: readonly unknown[] }
  | { readonly answer: number; readonly result: unknown }
  | { readonly answer: number; readonly error: string };

/** Answers a call. */
type Answer = (...args: never[]) => unknown;
type OnNotice = (args: readonly unknown[], socket: Socket | undefined) => void;

interface PendingCall {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/**
 * Calls with answers, and notices without, between a process and its parent. Both ends may send both. The processes
 * must be connected with `serialization: 'advanced'`, so that buffers arrive as such.
 */
export class ProcessChannel {
  readonly #end: ChildProcess;
  readonly #answers = new Map<string, Answer>();
  readonly #notices = new Map<string, OnNotice>();
  readonly #pending = new Map<number, PendingCall>();
  #lastId = 0;

  constructor(end: ChannelEnd) {
    this.#end = end as ChildProcess;
    this.#end.on('message', (message, socket) => this.#receive(message as Message, socket as Socket | undefined));
    this.#end.once('disconnect', () => {
      for (const { reject } of this.#pending.values()) reject(disconnected());
      this.#pending.clear();
    });
  }

  /** Sets what answers the calls of a name. If it throws, the call rejects with an `Error` that holds its stack. */
  onCall(name: string, answer: Answer): void {
    this.#answers.set(name, answer);
  }

  /** Sets what is told of the notices of a name. */
  onNotice(name: string, listener: OnNotice): void {
    this.#notices.set(name, listener);
  }

  /** Calls what the other end has set for a name. Rejects if that throws, or if the other process ends first. */
  call<T>(name: string, ...args: readonly unknown[]): Promise<T> {
    if (!this.#end.connected) return Promise.reject(disconnected());
    this.#lastId += 1;
    const call = this.#lastId;
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(call, { resolve: resolve as (result: unknown) => void, reject });
      this.#send({ call, name, args });
    });
  }

  /** Sends a notice. Does nothing if the other process has ended. */
  notify(name: string, ...args: readonly unknown[]): void {
    this.#send({ notice: name, args });
  }

  /** Sends a notice with a connection, which stays open in this process. */
  notifyWith(socket: Socket, name: string, ...args: readonly unknown[]): void {
    this.#send({ notice: name, args }, socket);
  }

  #send(message: Message, socket?: Socket): void {
    // A process that ends meanwhile is noticed by its `disconnect`.
    if (this.#end.connected) this.#end.send(message, socket, { keepOpen: true }, () => {});
  }

  #receive(message: Message, socket: Socket | undefined): void {
    if ('notice' in message) {
      this.#notices.get(message.notice)?.(message.args, socket);
      return;
    }
    if ('call' in message) {
      void this.#answer(message);
      return;
    }
    const pending = this.#pending.get(message.answer);
    this.#pending.delete(message.answer);
    if ('error' in message) pending?.reject(new Error(message.error));
    else pending?.resolve(message.result);
  }

  async #answer({ call, name, args }: Call): Promise<void> {
    try {
      const answer = this.#answers.get(name);
      if (answer === undefined) throw new Error(`nothing answers ${name}`);
      this.#send({ answer: call, result: await answer(...(args as never[])) });
    } catch (error) {
      this.#send({ answer: call, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  }
}

function disconnected(): Error {
  return new Error('the other process has ended');
}
