import type { Sample } from '../../../agent/sample.ts';
import { DEFAULT_RESULT_FORM, type ResultForm } from '../../../tools/result-form.ts';
import type { JsonChunks } from '../../../wire/json-chunks.ts';
import { InputRequired } from '../../call/input-required.ts';
import type { ResultForms } from '../../call/result-forms.ts';
import type { CallRequest } from '../../call/running/call-request.ts';
import { progressReports } from '../../call/running/progress.ts';
import type { RunningCalls } from '../../call/running/running-calls.ts';
import type { ToolCaller } from '../../call/tool-caller.ts';
import { anonymousClient, type Peer } from '../../clients/peer.ts';
import type { ServerDescription } from '../../description/server-description.ts';
import {
  declaredClientName,
  type Fields,
  hasOnly,
  isRecord,
  type PlainRequest,
  type RequestId,
} from './plain-request.ts';
import { Responses } from './responses.ts';

/** A call that runs on the fast path. */
export interface FastCall {
  /** The id of the call's request. */
  readonly id: RequestId;
  /**
   * The JSON-RPC response. Undefined if the client cancelled the call, which then gets no response. `NEEDS_SDK` if the
   * call has to ask the client something: only the SDK can, so it has to run the call again. Never rejects.
   */
  readonly response: Promise<JsonChunks | undefined | typeof NEEDS_SDK>;
  cancel(): void;
}

/** Says that the SDK has to run a call again, because the call asks the client something. */
export const NEEDS_SDK = Symbol('needs the SDK');

/** Sends notifications to the client while its call runs. */
export interface NotificationSink {
  notify(json: string): void;
}

/** Options of a `FastPath`. */
export interface FastPathOptions {
  readonly description: ServerDescription;
  readonly running: RunningCalls;
  /** How results are written for which client; by default the same for all. */
  readonly resultForms?: ResultForms | undefined;
  /** Loads the tools. Called for the first call, and for calls that come before the tools are loaded. */
  load(): Promise<ToolCaller>;
}

const CALL_KEYS: ReadonlySet<string> = new Set(['name', 'arguments', '_meta']);
const META_ONLY: ReadonlySet<string> = new Set(['_meta']);
const NO_ARGUMENTS: Fields = {};

/** Ends a run at its first question. The SDK then runs the call again and asks. */
const confirmLater = async (): Promise<never> => {
  throw new InputRequired(new Map(), 0);
};
const askLater: Sample = Object.assign(confirmLater.bind(undefined), { separate: true });

/**
 * Answers the most frequent requests without the SDK, byte for byte as the SDK would answer them. The SDK validates
 * every message and result against schemas, which costs several times as much as a small read. The fast path takes
 * plain requests only, and leaves everything else to the SDK, which implements the whole protocol.
 */
export class FastPath {
  readonly #responses: Responses;
  readonly #options: FastPathOptions;
  #caller: ToolCaller | undefined;

  constructor(options: FastPathOptions) {
    this.#responses = new Responses(options.description);
    this.#options = options;
  }

  /** Returns the response to an `initialize` that requests this version. */
  initialize(id: RequestId, version: string): string {
    return this.#responses.initialize(id, version);
  }

  /** Returns the response to `tools/list`, `server/discover` or `ping`; undefined for any other request. */
  reply(request: PlainRequest, peer: Peer): string | undefined {
    const { id, method, params, modern } = request;
    if (!hasOnly(params, META_ONLY)) return undefined;
    if (method === 'tools/list') {
      return this.#responses.tools(id, modern, this.#formOf(peer.clientName ?? declaredClientName(request)));
    }
    if (modern) return method === 'server/discover' ? this.#responses.discover(id) : undefined;
    return method === 'ping' ? this.#responses.ping(id) : undefined;
  }

  /**
   * Starts the call of a `tools/call` request. Returns undefined, having started nothing, if the request is for the
   * SDK.
   */
  call(request: PlainRequest, peer: Peer, sink: NotificationSink): FastCall | undefined {
    const { id, method, params, modern, progressToken } = request;
    if (method !== 'tools/call' || !hasOnly(params, CALL_KEYS)) return undefined;
    const { name, arguments: args = NO_ARGUMENTS } = params;
    // The SDK drops an argument named `__proto__`, so such a request is left to it.
    if (typeof name !== 'string' || !isRecord(args) || Object.hasOwn(args, '__proto__')) return undefined;
    const { client = anonymousClient(), roots, limits } = peer;
    const running = this.#options.running.start();
    const progress =
      progressToken === undefined
        ? undefined
        : progressReports(progressToken, (done) => sink.notify(this.#responses.progress(done)));
    const clientName = peer.clientName ?? declaredClientName(request);
    const results = this.#formOf(clientName);
    const call = {
      name,
      args,
      meta: params._meta,
      client,
      clientName,
      roots: roots.pinned(),
      sample: askLater,
      confirm: confirmLater,
      running,
      progress,
      limits,
      results,
    };
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

  #formOf(clientName: string | undefined): ResultForm {
    return this.#options.resultForms?.of(clientName) ?? DEFAULT_RESULT_FORM;
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
