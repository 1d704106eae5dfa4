import assert from 'node:assert/strict';
import type { CreateMessageRequestParams } from '@modelcontextprotocol/client';
import type { Era } from './connections.ts';
import type { DialectName } from './dialect-contracts.ts';
import { connectHttp, newClient, ToolClient } from './tool-client.ts';

/** What a client declares about sampling: nothing, that it answers in text, or that it answers with tool calls too. */
export type Declares = 'none' | 'sampling' | 'tools';

/** One sampling request as the client got it. */
export interface Asked {
  readonly params: CreateMessageRequestParams;
  /** All text in it: the system prompt, then the messages. */
  readonly prompt: string;
}

/** An answer of a script: a text, a block or blocks of content, or a whole result. */
export type Answer = string | Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[];
export type Script = (asked: Asked) => Answer | Promise<Answer>;

export interface SamplingClientOptions<D extends DialectName> {
  /** Default `workspace`. */
  readonly dialect?: D;
  readonly era: Era;
  /** Default `tools`. */
  readonly declares?: Declares;
}

/**
 * A client that answers sampling requests from a script and remembers each one. Without a script, it answers a request with
 * an error, which fails the call that led to it.
 */
export class SamplingClient<D extends DialectName = DialectName> extends ToolClient<D> {
  /** Every request so far. */
  readonly asked: Asked[] = [];
  #script: Script | undefined;

  constructor({ era, declares = 'tools', dialect = 'workspace' as D }: SamplingClientOptions<D>) {
    const sampling = declares === 'tools' ? { tools: {} } : {};
    super(dialect, newClient(era, declares === 'none' ? {} : { capabilities: { sampling } }));
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

  /** Returns the requests that come while some work is done, and the result of the work. */
  async askedBy<T>(work: () => Promise<T>): Promise<{ readonly asked: readonly Asked[]; readonly result: T }> {
    const before = this.asked.length;
    const result = await work();
    return { asked: this.asked.slice(before), result };
  }
}

/** Connects one more scripted client to a server on HTTP. */
export async function connectSampling<D extends DialectName>(
  url: string,
  { token, ...options }: SamplingClientOptions<D> & { readonly token?: string },
): Promise<SamplingClient<D>> {
  const agent = new SamplingClient(options);
  await connectHttp(url, { dialect: agent.dialect, token, client: agent.client });
  return agent;
}

/** An answer in the form that the prompt asks for. */
export function json(value: unknown): Answer {
  return JSON.stringify(value);
}

/** A tool call as a block of content. */
export function toolUse(name: string, input: unknown): Readonly<Record<string, unknown>> {
  return { type: 'tool_use', id: 'call-1', name, input };
}

/** An answer that ended at the limit of tokens. */
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
