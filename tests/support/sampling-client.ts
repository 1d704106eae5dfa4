import assert from 'node:assert/strict';
import type { Client, CreateMessageRequestParams } from '@modelcontextprotocol/client';
import { type CallOptions, type CallResult, callTool, type Era, httpTransport, newClient } from './server.ts';

/** What a client says it can do: nothing of the kind, answer in text, or answer with tool calls too. */
export type Declares = 'none' | 'sampling' | 'tools';

/** One sampling request as the client got it. */
export interface Asked {
  readonly params: CreateMessageRequestParams;
  /** All text in it: the system prompt, then the messages. */
  readonly prompt: string;
}

/** What a script answers: a text, a block or blocks of content, or a whole result. */
export type Answer = string | Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[];
export type Script = (asked: Asked) => Answer | Promise<Answer>;

export interface SamplingClientOptions {
  readonly era: Era;
  /** Default `tools`. */
  readonly declares?: Declares;
}

/**
 * A real client that answers sampling requests from a script and remembers each one. Where there is no script, a request
 * is an error, which fails the call that led to it.
 */
export class SamplingClient implements AsyncDisposable {
  readonly client: Client;
  /** Every request so far. */
  readonly asked: Asked[] = [];
  #script: Script | undefined;

  constructor({ era, declares = 'tools' }: SamplingClientOptions) {
    const sampling = declares === 'tools' ? { tools: {} } : {};
    this.client = newClient(era, declares === 'none' ? {} : { capabilities: { sampling } });
    if (declares === 'none') return;
    this.client.setRequestHandler('sampling/createMessage', async ({ params }) => {
      const asked = { params, prompt: promptOf(params) };
      this.asked.push(asked);
      if (this.#script === undefined) throw new Error('the script has no answer');
      return resultOf(await this.#script(asked)) as never;
    });
  }

  /** Answers every request from now on in this way. */
  answer(script: Script | Answer): void {
    this.#script = typeof script === 'function' ? script : () => script;
  }

  /** Answers the next requests one after the other, and none after that. */
  answerInTurn(...scripts: (Script | Answer)[]): void {
    const left = [...scripts];
    this.#script = (asked) => {
      const next = left.shift();
      if (next === undefined) throw new Error('the script has no more answers');
      return typeof next === 'function' ? next(asked) : next;
    };
  }

  /** How many requests come while something is done, and what it comes to. */
  async askedBy<T>(work: () => Promise<T>): Promise<{ readonly asked: readonly Asked[]; readonly result: T }> {
    const before = this.asked.length;
    const result = await work();
    return { asked: this.asked.slice(before), result };
  }

  call(tool: string, args: Readonly<Record<string, unknown>> = {}, options: CallOptions = {}): Promise<CallResult> {
    return callTool(this.client, { tool, args, options });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close().catch(() => {});
  }
}

/** Connects one more scripted client to a server on HTTP, with a bearer token if one is given. */
export async function connectSampling(
  url: string,
  { token, ...options }: SamplingClientOptions & { readonly token?: string },
): Promise<SamplingClient> {
  const agent = new SamplingClient(options);
  await agent.client.connect(httpTransport(url, token));
  return agent;
}

/** An answer in the form that the prompt asks for. */
export function json(value: unknown): Answer {
  return JSON.stringify(value);
}

/** The call of a tool as a block of content. */
export function toolUse(name: string, input: unknown): Readonly<Record<string, unknown>> {
  return { type: 'tool_use', id: 'call-1', name, input };
}

/** A text that the model could not finish. */
export function cutOff(text: string): Answer {
  return { ...resultOf(text), stopReason: 'maxTokens' };
}

/** An answer that is held back until the test lets it go. */
export class Held {
  #arrive = (): void => {};
  #give = (_: Answer): void => {};
  /** Resolves when a request waits for the answer. */
  readonly arrived = new Promise<void>((resolve) => {
    this.#arrive = resolve;
  });
  readonly #answer = new Promise<Answer>((resolve) => {
    this.#give = resolve;
  });

  /** The script that waits. */
  readonly script: Script = () => {
    this.#arrive();
    return this.#answer;
  };

  release(answer: Answer): void {
    this.#give(answer);
  }
}

function resultOf(answer: Answer): Readonly<Record<string, unknown>> {
  if (typeof answer === 'string') return resultOf({ type: 'text', text: answer });
  if ('role' in answer) return answer;
  const blocks = Array.isArray(answer) ? answer : [answer];
  const stopReason = blocks.some(({ type }) => type === 'tool_use') ? 'toolUse' : 'endTurn';
  return { model: 'script', role: 'assistant', content: answer, stopReason };
}

function promptOf({ systemPrompt = '', messages }: CreateMessageRequestParams): string {
  const blocks = messages.flatMap(({ content }) => content);
  const texts = blocks.map((block) => (block.type === 'text' ? block.text : ''));
  assert(
    texts.some((text) => text !== ''),
    'a sampling request says nothing',
  );
  return [systemPrompt, ...texts].join('\n');
}
