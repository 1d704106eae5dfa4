import type { Sample } from '../../../agent/index.ts';
import { RingfenceError } from '../../../errors.ts';
import type { Client } from '../../../tools/client.ts';
import type { Json } from '../../../wire/json.ts';
import type { CallTool } from '../../call/call-tool.ts';
import { InputNeeded } from '../../call/input-needed.ts';
import { anonymousClient, type Peer } from '../../call/peer.ts';
import { progressReports } from '../../call/progress.ts';
import type { RunningCall } from '../../call/running-calls.ts';
import type { Introduction } from '../server-description.ts';
import { isRecord } from './client-info.ts';
import { type Fields, hasOnly, type PlainRequest, type RequestId } from './plain-request.ts';
import { Answers } from './responses.ts';

/** A call on its way. */
export interface LaneCall {
  /** That of its request. */
  readonly id: RequestId;
  /**
   * Its answer as JSON. Undefined if it was cancelled: then nobody waits for one. FOR_THE_SDK if it has to ask the client,
   * which the SDK can: it runs the call again. Never rejects.
   */
  readonly answer: Promise<Json | undefined | typeof FOR_THE_SDK>;
  cancel(): void;
}

export const FOR_THE_SDK = Symbol('for the SDK');

/** Who asks for a call. */
export interface Caller {
  readonly peer: Peer;
  /** Gets messages for the client on the way. */
  notify(json: string): void;
}

/** The tools that the lane calls, which answer in JSON without its closing brace. */
export interface LaneTools {
  readonly call: CallTool<Json>;
  /** Forgets what a client did in a call that is run again by another. */
  forget(client: Client): void;
}

const CALL_KEYS: ReadonlySet<string> = new Set(['name', 'arguments', '_meta']);
const META_ONLY: ReadonlySet<string> = new Set(['_meta']);
const NO_ARGUMENTS: Fields = {};
/** Ends a run at its first question. What a tool did before that may be done again. */
const leave: Sample = Object.assign(
  async () => {
    throw new InputNeeded(new Map(), 0);
  },
  { separate: true },
);

/**
 * Answers what clients ask all the time without the SDK, and to the letter as the SDK would: its checks of every message and
 * result cost several times what a small read does. It takes plain requests only; the rest is for the SDK, which knows the
 * whole protocol. The tools are loaded when a call first needs them.
 */
export class Lane {
  readonly #answers: Answers;
  readonly #load: () => Promise<LaneTools>;
  #tools: LaneTools | undefined;

  constructor(introduction: Introduction, load: () => Promise<LaneTools>) {
    this.#answers = new Answers(introduction);
    this.#load = load;
  }

  initialize(id: RequestId, version: string): string {
    return this.#answers.initialize(id, version);
  }

  /** The answer to a request that needs no call; undefined if it is none of those. */
  reply({ id, method, params, modern }: PlainRequest): string | undefined {
    if (!hasOnly(params, META_ONLY)) return undefined;
    if (method === 'tools/list') return this.#answers.tools(id, modern);
    if (modern) return method === 'server/discover' ? this.#answers.discover(id) : undefined;
    return method === 'ping' ? this.#answers.pong(id) : undefined;
  }

  /** Starts a call of a tool; undefined if the request is something else. */
  call(request: PlainRequest, { peer, notify }: Caller): LaneCall | undefined {
    const { id, method, params, modern, progressToken } = request;
    if (method !== 'tools/call' || !hasOnly(params, CALL_KEYS)) return undefined;
    const { name, arguments: args = NO_ARGUMENTS } = params;
    // The SDK drops an argument of that last name, so it is for the SDK to see.
    if (typeof name !== 'string' || !isRecord(args) || Object.hasOwn(args, '__proto__')) return undefined;
    let running: RunningCall | undefined;
    let cancelled = false;
    const progress = progressReports(progressToken, (done) => notify(this.#answers.progress(done)));
    const onStart = (started: RunningCall): void => {
      running = started;
      if (cancelled) running.abort(new RingfenceError('cancelled', {}));
    };
    const { client = anonymousClient(), roots } = peer;
    const start = (tools: LaneTools) => tools.call({ name, args, client, roots, sample: leave, onStart, progress });
    const result = this.#tools === undefined ? this.#loaded().then(start) : start(this.#tools);
    return {
      id,
      answer: result.then(
        (done) => (cancelled ? undefined : this.#answers.result(id, done, modern)),
        (error) => {
          if (cancelled) return undefined;
          if (!(error instanceof InputNeeded)) return this.#answers.error(id, error);
          this.#tools?.forget(client);
          return FOR_THE_SDK;
        },
      ),
      cancel: () => {
        cancelled = true;
        running?.abort(new RingfenceError('cancelled', {}));
      },
    };
  }

  async #loaded(): Promise<LaneTools> {
    this.#tools = await this.#load();
    return this.#tools;
  }
}
