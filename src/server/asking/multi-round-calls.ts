import { createHash, randomBytes } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type CreateMessageRequestParams,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { AgentError } from '../../agent/agent-error.ts';
import type { Sample, SampleAnswer, SampleOptions } from '../../agent/sample.ts';
import { throwIfAborted } from '../../runtime/operation-context.ts';
import type { Client } from '../../tools/client.ts';
import { ToolError } from '../../tools/errors.ts';
import { InputRequired, type Question } from '../call/input-required.ts';
import { anonymousClient } from '../call/peer.ts';
import { PendingQuestions } from './pending-questions.ts';
import { questionFor, type Sampling, toAnswer } from './sampling.ts';

/** Longer than any question may take; the time of each is checked when its answer comes. */
const STATE_TTL_SECONDS = 24 * 60 * 60;
/** More than clients go along with. A tool that still has questions then would have them for ever. */
const MAX_ROUNDS = 32;

/** What goes from round to round through the client's hands, signed: readable there, not changeable. */
interface RoundState {
  /** The key of the client, so that no other can go on with its call. */
  readonly client: string;
  /** Which call it is: the hash of tool and arguments. */
  readonly call: string;
  /** When each open question was put. */
  readonly asked: Readonly<Record<string, number>>;
  readonly round: number;
}

interface RoundRequest {
  readonly context: ServerContext;
  /** Undefined for one that only its signed state can tell from others. */
  readonly client: Client | undefined;
  readonly tool: string;
  readonly args: unknown;
}

/**
 * Asking as of 2026-07-28: a call that has a question ends with it, and comes again with the answer. The secret that
 * signs what crosses rounds is made here and never leaves the process, so a call does not survive a restart.
 */
export class MultiRoundCalls {
  readonly #codec = createRequestStateCodec<RoundState>({ key: randomBytes(32), ttlSeconds: STATE_TTL_SECONDS });
  readonly #open = new PendingQuestions();

  /** One round of a call. Raises a protocol error for a state that is not of this call, this client and this process. */
  async begin(call: RoundRequest): Promise<CallRound> {
    const given = call.context.mcpReq.requestState<string>();
    if (given === undefined) return new CallRound(call, this.#open, this.#codec.mint);
    const state = await this.#codec.verify(given, call.context).catch(() => undefined);
    const isOurs =
      state !== undefined &&
      state.call === hashOf([call.tool, call.args]) &&
      (call.client === undefined ? state.client.startsWith('anonymous:') : state.client === call.client.key);
    if (isOurs) return new CallRound(call, this.#open, this.#codec.mint, state);
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'Invalid or expired requestState: it was not issued for this call; call again without it',
      { reason: 'invalid_request_state' },
    );
  }
}

type Mint = (state: RoundState) => Promise<string>;

/** One run of a tool, with the answers that came for it. */
export class CallRound {
  readonly client: Client;
  /** Undefined for a client that cannot be asked. */
  readonly sample: Sample | undefined;
  readonly #call: RoundRequest;
  readonly #open: PendingQuestions;
  readonly #mint: Mint;
  readonly #state: RoundState | undefined;

  constructor(call: RoundRequest, open: PendingQuestions, mint: Mint, state?: RoundState) {
    const sampling = capabilitiesOf(call.context)?.sampling;
    this.client = call.client ?? anonymousClient(state?.client);
    this.sample = sampling && Object.assign(this.#asker(sampling), { separate: true });
    this.#call = call;
    this.#open = open;
    this.#mint = mint;
    this.#state = state;
  }

  /** What the client gets to hear in place of a result. */
  async result({ questions, timeoutMs }: InputRequired): Promise<InputRequiredResult> {
    const { tool, args } = this.#call;
    const now = Date.now();
    if (this.client.kind !== 'anonymous')
      for (const key of questions.keys()) this.#open.put(this.#idOf(key), timeoutMs);
    const asked = Object.fromEntries([...questions.keys()].map((key) => [key, this.#state?.asked[key] ?? now]));
    const state = { client: this.client.key, call: hashOf([tool, args]), asked, round: this.#round + 1 };
    const requests = [...questions].map(([key, question]) => [
      key,
      inputRequired.createMessage(question as CreateMessageRequestParams),
    ]);
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

  async #ask(question: Question, options: SampleOptions): Promise<SampleAnswer> {
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
      // Only half of the time, so that there is some left to ask after all.
      const answer = await this.#open.wait(id, options.timeoutMs / 2, options.signal);
      if (options.signal !== undefined) throwIfAborted(options.signal);
      if (answer !== undefined) return answer;
    }
    if (this.#round >= MAX_ROUNDS) throw new AgentError('bad_answer', { problem: 'none came in so many rounds' });
    throw new InputRequired(new Map([[key, question]]), options.timeoutMs);
  }

  /** Undefined if the client called again without one: it is asked again, on the same time. */
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

function capabilitiesOf({ mcpReq }: ServerContext): { readonly sampling?: Sampling } | undefined {
  const envelope: Readonly<Record<string, unknown>> | undefined = mcpReq.envelope;
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] as { readonly sampling?: Sampling } | undefined;
}

/** The same for the same value, in whatever order its keys were written. */
function hashOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value, sortKeys) ?? '')
    .digest('hex');
}

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
