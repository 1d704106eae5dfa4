import type { Sample } from '../../../agent/sample.ts';
import { CancelledError } from '../../../runtime/operation-context.ts';
import type { Client } from '../../../tools/client.ts';
import type { JsonChunks } from '../../../wire/json.ts';
import type { CallTool } from '../../call/call-tool.ts';
import { InputRequired } from '../../call/input-required.ts';
import { anonymousClient, type Peer } from '../../call/peer.ts';
import { progressReports } from '../../call/progress.ts';
import type { RunningCall } from '../../call/running-calls.ts';
import type { ServerDescription } from '../server-description.ts';
import { isRecord } from './client-info.ts';
import { type Fields, hasOnly, type PlainRequest, type RequestId } from './plain-request.ts';
import { Responses } from './responses.ts';

/** A call on its way. */
export interface FastCall {
  /** That of its request. */
  readonly id: RequestId;
  /**
   * Its answer as JSON. Undefined if it was cancelled: then nobody waits for one. FOR_THE_SDK if it has to ask the client,
   * which the SDK can: it runs the call again. Never rejects.
   */
  readonly answer: Promise<JsonChunks | undefined | typeof NEEDS_SDK>;
  cancel(): void;
}

export const NEEDS_SDK = Symbol('for the SDK');

/** Who asks for a call. */
export interface FastCaller {
  readonly peer: Peer;
  /** Gets messages for the client on the way. */
  notify(json: string): void;
}

/** The tools that the lane calls, which answer in JSON without its closing brace. */
export interface FastTools {
  readonly call: CallTool<JsonChunks>;
  /** Forgets what a client did in a call that is run again by another. */
  forget(client: Client): void;
}

const CALL_KEYS: ReadonlySet<string> = new Set(['name', 'arguments', '_meta']);
const META_ONLY: ReadonlySet<string> = new Set(['_meta']);
const NO_ARGUMENTS: Fields = {};
/** Ends a run at its first question. What a tool did before that may be done again. */
const askLater: Sample = Object.assign(
  async () => {
    throw new InputRequired(new Map(), 0);
  },
  { separate: true },
);

/**
 * Answers what clients ask all the time without the SDK, and to the letter as the SDK would: its checks of every message and
 * result cost several times what a small read does. It takes plain requests only; the rest is for the SDK, which knows the
 * whole protocol. The tools are loaded when a call first needs them.
 */
export class FastPath {
  readonly #answers: Responses;
  readonly #load: () => Promise<FastTools>;
  #tools: FastTools | undefined;

  constructor(description: ServerDescription, load: () => Promise<FastTools>) {
    this.#answers = new Responses(description);
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
    return method === 'ping' ? this.#answers.ping(id) : undefined;
  }

  /** Starts a call of a tool; undefined if the request is something else. */
  call(request: PlainRequest, { peer, notify }: FastCaller): FastCall | undefined {
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
      if (cancelled) running.abort(new CancelledError());
    };
    const { client = anonymousClient(), roots } = peer;
    const start = (tools: FastTools) => tools.call({ name, args, client, roots, sample: askLater, onStart, progress });
    const result = this.#tools === undefined ? this.#loaded().then(start) : start(this.#tools);
    return {
      id,
      answer: result.then(
        (done) => (cancelled ? undefined : this.#answers.result(id, done, modern)),
        (error) => {
          if (cancelled) return undefined;
          if (!(error instanceof InputRequired)) return this.#answers.error(id, error);
          this.#tools?.forget(client);
          return NEEDS_SDK;
        },
      ),
      cancel: () => {
        cancelled = true;
        running?.abort(new CancelledError());
      },
    };
  }

  async #loaded(): Promise<FastTools> {
    this.#tools = await this.#load();
    return this.#tools;
  }
}
