import { createHash } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type CreateMessageRequestParams,
  createRequestStateCodec,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { AgentError } from '../../agent/agent-error.ts';
import type { Sample, SampleAnswer, SampleOptions } from '../../agent/sample.ts';
import { throwIfAborted } from '../../runtime/operation-context.ts';
import type { Client } from '../../tools/client.ts';
import { ToolError } from '../../tools/errors.ts';
import { InputRequired, type Question, type SamplingRequest } from '../call/input-required.ts';
import { anonymousClient } from '../clients/peer.ts';
import type { Confirm, Confirmation } from '../confirm/approve.ts';
import { SigningKeys } from '../sessions/signing-keys.ts';
import { formFor, showsForms, toReply } from './elicitation.ts';
import { PendingQuestions } from './pending-questions.ts';
import { questionFor, type Sampling, toAnswer } from './sampling.ts';

/** Longer than any question may take. The time limit of each question is checked when its answer arrives. */
const STATE_TTL_SECONDS = 24 * 60 * 60;
/** A tool that has not got its answer by then would ask forever. Clients give up after fewer rounds. */
const MAX_ROUNDS = 32;

/** The state that the client carries from one round of a call to the next. It is signed, not encrypted. */
interface RoundState {
  /** The key of the client, so that no other client can continue its call. */
  readonly client: string;
  /** Identifies the call: a hash of its tool and arguments. */
  readonly call: string;
  /** When each open question was asked, by its key. */
  readonly asked: Readonly<Record<string, number>>;
  /** The keys of what a person has agreed to in earlier rounds. */
  readonly agreed?: readonly string[];
  readonly round: number;
}

interface RoundRequest {
  readonly context: ServerContext;
  /** Undefined for an anonymous client, which only the signed state identifies. */
  readonly client: Client | undefined;
  readonly tool: string;
  readonly args: unknown;
}

/**
 * Asks clients of 2026-07-28 by multi-round-trip requests: a call that has a question ends with it, and the client
 * calls again with the answer. Every process that has the same keys can go on with the call.
 */
export class MultiRoundCalls {
  /** The first signs the state between rounds. */
  readonly #codecs: readonly [RequestStateCodec<RoundState>, ...RequestStateCodec<RoundState>[]];
  readonly #open = new PendingQuestions();

  constructor(keys = new SigningKeys()) {
    const codecWith = (key: Buffer) => createRequestStateCodec<RoundState>({ key, ttlSeconds: STATE_TTL_SECONDS });
    const [first, ...more] = keys.for('request state');
    this.#codecs = [codecWith(first), ...more.map(codecWith)];
  }

  /** Begins a round of a call. Raises a protocol error for a state that was not issued to this client for this call. */
  async begin(call: RoundRequest): Promise<CallRound> {
    const given = call.context.mcpReq.requestState<string>();
    const { mint } = this.#codecs[0];
    if (given === undefined) return new CallRound(call, this.#open, mint);
    const state = await this.#verify(given, call.context);
    const isOurs =
      state !== undefined &&
      state.call === hashOf([call.tool, call.args]) &&
      (call.client === undefined ? state.client.startsWith('anonymous:') : state.client === call.client.key);
    if (isOurs) return new CallRound(call, this.#open, mint, state);
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'Invalid or expired requestState: it was not issued for this call; call again without it',
      { reason: 'invalid_request_state' },
    );
  }

  async #verify(given: string, context: ServerContext): Promise<RoundState | undefined> {
    for (const codec of this.#codecs) {
      const state = await codec.verify(given, context).catch(() => undefined);
      if (state !== undefined) return state;
    }
    return undefined;
  }
}

type Mint = (state: RoundState) => Promise<string>;

/** One run of a tool, with the answers that the client sent along. */
export class CallRound {
  readonly client: Client;
  /** Undefined for a client that cannot be asked. */
  readonly sample: Sample | undefined;
  /** Undefined for a client that shows no forms to a person. */
  readonly confirm: Confirm | undefined;
  readonly #agreed: string[];
  readonly #call: RoundRequest;
  readonly #open: PendingQuestions;
  readonly #mint: Mint;
  readonly #state: RoundState | undefined;

  constructor(call: RoundRequest, open: PendingQuestions, mint: Mint, state?: RoundState) {
    const { sampling, elicitation } = capabilitiesOf(call.context) ?? {};
    this.client = call.client ?? anonymousClient(state?.client);
    this.sample = sampling && Object.assign(this.#asker(sampling), { separate: true });
    this.confirm = showsForms(elicitation)
      ? (question, { timeoutMs }) => this.#confirm(question, timeoutMs)
      : undefined;
    this.#agreed = [...(state?.agreed ?? [])];
    this.#call = call;
    this.#open = open;
    this.#mint = mint;
    this.#state = state;
  }

  /** Returns the result that asks the client these questions. */
  async result({ questions, timeoutMs }: InputRequired): Promise<InputRequiredResult> {
    const { tool, args } = this.#call;
    const now = Date.now();
    if (this.client.kind !== 'anonymous')
      for (const [key, question] of questions) if ('sample' in question) this.#open.put(this.#idOf(key), timeoutMs);
    const asked = Object.fromEntries([...questions.keys()].map((key) => [key, this.#state?.asked[key] ?? now]));
    const call = hashOf([tool, args]);
    const agreed = this.#agreed.length > 0 ? { agreed: this.#agreed } : {};
    const state = { client: this.client.key, call, asked, round: this.#round + 1, ...agreed };
    const requests = [...questions].map(([key, question]) => [key, toRequest(question)]);
    return inputRequired({ inputRequests: Object.fromEntries(requests), requestState: await this.#mint(state) });
  }

  #asker(sampling: NonNullable<Sampling>): Sample {
    return (params, options) => this.#ask(questionFor(sampling, params), options);
  }

  #idOf(key: string): string {
    return `${this.client.key} ${key}`;
  }

  get #round(): number {
    return this.#state?.round ?? 0;
  }

  async #ask(question: SamplingRequest, options: SampleOptions): Promise<SampleAnswer> {
    const key = `sample-${hashOf(question).slice(0, 16)}`;
    const id = this.#idOf(key);
    const put = this.#state?.asked[key];
    if (put !== undefined) {
      const answer = this.#answerTo(key, put, options);
      if (answer !== undefined) {
        this.#open.answer(id, answer);
        return answer;
      }
    } else if (this.client.kind !== 'anonymous' && !this.#open.claim(id, options.timeoutMs)) {
      // Another call has asked the same. Half of the time is left to ask here if that call gets no answer.
      const answer = await this.#open.wait(id, options.timeoutMs / 2, options.signal);
      if (options.signal !== undefined) throwIfAborted(options.signal);
      if (answer !== undefined) return answer;
    }
    if (this.#round >= MAX_ROUNDS) throw new AgentError('bad_answer', { problem: 'none came in so many rounds' });
    throw new InputRequired(new Map([[key, { sample: question }]]), options.timeoutMs);
  }

  /**
   * Asks a person, as `Confirm` documents it. Every call asks for itself: what a person agrees to for one call does not
   * hold for another.
   */
  async #confirm(question: Confirmation, timeoutMs: number): ReturnType<Confirm> {
    const key = `confirm-${question.id.slice(0, 16)}`;
    if (this.#agreed.includes(key)) return 'agreed';
    const put = this.#state?.asked[key];
    if (put !== undefined) {
      const { inputResponses, droppedInputResponseKeys } = this.#call.context.mcpReq;
      if (Date.now() - put > timeoutMs) return 'unanswered';
      if (droppedInputResponseKeys?.includes(key)) return 'bad_answer';
      const given = inputResponses?.[key];
      const reply = given === undefined ? undefined : toReply(given);
      if (reply === 'agreed') this.#agreed.push(key);
      if (reply !== undefined) return reply;
    }
    if (this.#round >= MAX_ROUNDS) return 'bad_answer';
    throw new InputRequired(new Map([[key, { confirm: question }]]), timeoutMs);
  }

  /**
   * Returns the answer to a question; undefined if the client called again without one, in which case it is asked again
   * within the original time limit. Raises `timed_out` and `bad_answer`, and `permission_denied` for a refusal.
   */
  #answerTo(key: string, put: number, { timeoutMs }: SampleOptions): SampleAnswer | undefined {
    const { inputResponses, droppedInputResponseKeys } = this.#call.context.mcpReq;
    if (Date.now() - put > timeoutMs) throw new ToolError('timed_out', { seconds: timeoutMs / 1000 });
    if (droppedInputResponseKeys?.includes(key)) {
      throw new AgentError('bad_answer', { problem: 'it must be the result alone, not wrapped in anything' });
    }
    const given = inputResponses?.[key];
    return given === undefined ? undefined : toAnswer(given);
  }
}

function capabilitiesOf({ mcpReq }: ServerContext): ClientCapabilities | undefined {
  const envelope: Readonly<Record<string, unknown>> | undefined = mcpReq.envelope;
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
}

function toRequest(question: Question): InputRequest {
  if ('confirm' in question) return inputRequired.elicit(formFor(question.confirm));
  return inputRequired.createMessage(question.sample as CreateMessageRequestParams);
}

/** Returns a hash of a JSON value that does not depend on the order of its keys. */
function hashOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value, sortKeys) ?? '')
    .digest('hex');
}

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
