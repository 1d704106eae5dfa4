import type { ClientOptions } from '@modelcontextprotocol/client';
import type { Era } from './connections.ts';
import { newClient } from './tool-client.ts';

/** What a person does with a question. */
export type Reply = 'accept' | 'decline' | 'cancel';

/** A question as the client got it. */
export interface Question {
  readonly message: string;
  /** Aborted when the server takes the question back. */
  readonly signal: AbortSignal;
}

type Script = (question: Question) => Reply | Promise<Reply>;

/** A client whose person answers questions from a script, and remembers each one. */
export class Person {
  readonly client;
  readonly asked: Question[] = [];
  #script: Script = () => {
    throw new Error('the script has no answer');
  };
  #waiting: (() => void)[] = [];

  constructor(era: Era, capabilities: ClientOptions['capabilities'] = { elicitation: {} }) {
    this.client = newClient(era, { capabilities });
    if (capabilities?.elicitation === undefined) return;
    this.client.setRequestHandler('elicitation/create', async ({ params: { message } }, { mcpReq: { signal } }) => {
      const question = { message, signal };
      this.asked.push(question);
      for (const resolve of this.#waiting.splice(0)) resolve();
      const action = await this.#script(question);
      return action === 'accept' ? { action, content: {} } : { action };
    });
  }

  /** The texts of the questions since the last call of this. */
  questions(): string[] {
    return this.asked.splice(0).map(({ message }) => message);
  }

  /** Answers every question from now on in this way. */
  answer(script: Reply | Script): void {
    this.#script = typeof script === 'function' ? script : () => script;
  }

  /** Holds every answer back from now on. The result waits for the next question, and gives the answer. */
  hold(): { readonly arrived: Promise<void>; release(reply: Reply): void } {
    let release = (_: Reply): void => {};
    const held = new Promise<Reply>((resolve) => {
      release = resolve;
    });
    const arrived = new Promise<void>((resolve) => void this.#waiting.push(resolve));
    this.#script = () => held;
    return { arrived, release: (reply) => release(reply) };
  }
}
