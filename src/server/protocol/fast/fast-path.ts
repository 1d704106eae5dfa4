import type { Sample } from '../../../agent/sample.ts';
import type { JsonChunks } from '../../../wire/json-chunks.ts';
import { InputRequired } from '../../call/input-required.ts';
import { anonymousClient, type Peer } from '../../call/peer.ts';
import { progressReports } from '../../call/progress.ts';
import type { RunningCalls } from '../../call/running-calls.ts';
import type { CallRequest, ToolCaller } from '../../call/tool-caller.ts';
import type { ServerDescription } from '../../description/server-description.ts';
import { type Fields, hasOnly, isRecord, type PlainRequest, type RequestId } from './plain-request.ts';
import { Responses } from './responses.ts';

/** A call under way on the fast path. */
export interface FastCall {
  /** The id of its request. */
  readonly id: RequestId;
  /**
   * The JSON-RPC response. Undefined if the call was cancelled, because nobody waits for one then. `NEEDS_SDK` if the call has
   * to ask the client something, which only the SDK can: it runs the call again. Never rejects.
   */
  readonly response: Promise<JsonChunks | undefined | typeof NEEDS_SDK>;
  cancel(): void;
}

export const NEEDS_SDK = Symbol('needs the SDK');

/** Who asks for a call, and how it hears of progress. */
export interface FastCaller {
  readonly peer: Peer;
  notify(json: string): void;
}

export interface FastPathOptions {
  readonly description: ServerDescription;
  readonly running: RunningCalls;
  /** Loads the tools; called when a call first needs them. */
  load(): Promise<ToolCaller>;
}

const CALL_KEYS: ReadonlySet<string> = new Set(['name', 'arguments', '_meta']);
const META_ONLY: ReadonlySet<string> = new Set(['_meta']);
const NO_ARGUMENTS: Fields = {};

/** Ends a run at its first question: the SDK will run the call again and ask. */
const askLater: Sample = Object.assign(
  async () => {
    throw new InputRequired(new Map(), 0);
  },
  { separate: true },
);

/**
 * Answers the requests that clients send all the time without the SDK, byte for byte as the SDK would: its checks of every
 * message and result cost several times what a small read does. It accepts plain requests only and leaves the rest to the SDK,
 * which implements the whole protocol.
 */
export class FastPath {
  readonly #responses: Responses;
  readonly #options: FastPathOptions;
  #caller: ToolCaller | undefined;

  constructor(options: FastPathOptions) {
    this.#responses = new Responses(options.description);
    this.#options = options;
  }

  initialize(id: RequestId, version: string): string {
    return this.#responses.initialize(id, version);
  }

  /** The response to a request that needs no call; undefined for all others. */
  reply({ id, method, params, modern }: PlainRequest): string | undefined {
    if (!hasOnly(params, META_ONLY)) return undefined;
    if (method === 'tools/list') return this.#responses.tools(id, modern);
    if (modern) return method === 'server/discover' ? this.#responses.discover(id) : undefined;
    return method === 'ping' ? this.#responses.ping(id) : undefined;
  }

  /** Starts a call of a tool; undefined if the request is something else. */
  call(request: PlainRequest, { peer, notify }: FastCaller): FastCall | undefined {
    const { id, method, params, modern, progressToken } = request;
    if (method !== 'tools/call' || !hasOnly(params, CALL_KEYS)) return undefined;
    const { name, arguments: args = NO_ARGUMENTS } = params;
    // The SDK drops an argument of that last name, so such a request is left to it.
    if (typeof name !== 'string' || !isRecord(args) || Object.hasOwn(args, '__proto__')) return undefined;
    const { client = anonymousClient(), roots } = peer;
    const running = this.#options.running.start();
    const progress = progressReports(progressToken, (done) => notify(this.#responses.progress(done)));
    const call = { name, args, client, roots, sample: askLater, running, progress };
    const result = this.#caller === undefined ? this.#loadAndCall(call) : this.#caller.call(call);
    let isCancelled = false;
    return {
      id,
      response: result.then(
        (json) => (isCancelled ? undefined : this.#responses.result(id, json, modern)),
        (error) => {
          if (isCancelled) return undefined;
          return error instanceof InputRequired ? NEEDS_SDK : this.#responses.error(id, error);
        },
      ),
      cancel: () => {
        isCancelled = true;
        running.cancel();
      },
    };
  }

  async #loadAndCall(call: CallRequest): Promise<JsonChunks> {
    try {
      this.#caller = await this.#options.load();
    } catch (error) {
      this.#options.running.end(call.running);
      throw error;
    }
    return this.#caller.call(call);
  }
}
