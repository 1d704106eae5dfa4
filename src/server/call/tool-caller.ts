import { type CallFailure, recordCall } from '../../audit/events.ts';
import { RingfenceError } from '../../errors.ts';
import { argumentChecker, type CheckedArguments } from '../../tools/check-arguments.ts';
import type { Client } from '../../tools/client.ts';
import type { FailedCall } from '../../tools/dialect.ts';
import { type CallError, ToolError } from '../../tools/errors.ts';
import { nearest } from '../../tools/nearest.ts';
import type { Roots } from '../../tools/roots.ts';
import type { CallContext, Tool } from '../../tools/tool.ts';
import type { JsonChunks } from '../../wire/json-chunks.ts';
import { CallSubject, type SubjectArguments, subjectArguments } from './call-subject.ts';
import { CallTimer } from './call-timer.ts';
import { InputRequired } from './input-required.ts';
import { type Args, type RenderedCall, renderFailure, renderSuccess } from './render.ts';
import type { RunningCall } from './running-calls.ts';
import type { Service } from './service.ts';
import { agentFilesOf, ToolContext } from './tool-context.ts';

/** How much of an unknown tool's name an error repeats. */
const MAX_ECHO = 100;

/** One call of a tool, as a protocol hands it over. */
export interface CallRequest {
  readonly name: string;
  readonly args: Args;
  readonly client: Client;
  /** The roots that this client may know of. */
  readonly roots: Roots;
  readonly sample: CallContext['sample'];
  /** Started by the protocol, which cancels it when the client does. */
  readonly running: RunningCall;
  progress(done: number, total?: number): void;
}

/** The client asked for a tool that does not exist, which is an error of the protocol: JSON-RPC's "invalid params". */
class UnknownTool extends Error {
  readonly code = -32602;

  constructor(message: string) {
    super(message);
    this.name = 'UnknownTool';
  }
}

interface CallableTool {
  readonly tool: Tool;
  readonly subject: SubjectArguments;
  check(args: unknown): CheckedArguments<Args>;
}

/** What the log line of a call is made of. */
interface CallRecord {
  readonly request: CallRequest;
  readonly subject: CallSubject;
  readonly started: number;
}

/**
 * The way of every call, whatever the transport and the protocol era: arguments are checked, roots handed out under their
 * allowlists, time is limited, failures are worded by the dialect, and one line goes to the log.
 */
export class ToolCaller {
  readonly #service: Service;
  readonly #tools: ReadonlyMap<string, CallableTool>;
  readonly #afterResponse = new PostResponseQueue();

  constructor(service: Service) {
    this.#service = service;
    this.#tools = new Map(
      service.dialect.tools.map((tool) => [
        tool.name,
        { tool, check: argumentChecker(tool.input), subject: subjectArguments(tool.subject) },
      ]),
    );
  }

  /**
   * Runs a call and returns its `CallToolResult` as JSON without the closing brace, since what comes last differs between the
   * revisions of the protocol. Rejects only for a tool that does not exist, and with `InputRequired`.
   */
  async call(request: CallRequest): Promise<JsonChunks> {
    const callable = this.#tools.get(request.name);
    const subject = new CallSubject(callable?.subject);
    const record: CallRecord = { request, subject, started: performance.now() };
    subject.note(request.args);
    if (callable === undefined) throw this.#unknownTool(record);
    const { tool, check } = callable;
    const checked = check(request.args);
    if ('problems' in checked) {
      const text = this.#service.dialect.formatProblems(checked.problems, this.#failedCall(tool, request));
      return this.#finish(record, renderFailure(text), { code: 'invalid_argument' });
    }
    subject.note(checked.value);
    try {
      const value = await this.#run(tool, checked.value, record);
      return this.#finish(record, renderSuccess(tool, value, checked.value));
    } catch (thrown) {
      if (thrown instanceof InputRequired) throw this.#suspend(record, thrown);
      return this.#fail(record, tool, thrown);
    }
  }

  async #run(tool: Tool, args: Args, { request, subject }: CallRecord): Promise<Args> {
    const service = this.#service;
    const { requestTimeout } = service;
    const expire = (): void => request.running.abort(new ToolError('timed_out', { seconds: requestTimeout }));
    const timer = tool.ownTimeout
      ? undefined
      : new CallTimer(requestTimeout * 1000, { expire, defer: (work) => this.#afterResponse.add(work) });
    try {
      return await tool.run(args, new ToolContext({ service, tool, request, subject, timer }));
    } finally {
      timer?.stop();
    }
  }

  #fail(record: CallRecord, tool: Tool, thrown: unknown): JsonChunks {
    const error = (thrown instanceof RingfenceError ? thrown : new ToolError('internal', {})) as CallError;
    record.subject.useRoot(error.root);
    const text = this.#service.dialect.formatError(error, this.#failedCall(tool, record.request));
    const cause = error.code === 'internal' ? (error.cause ?? thrown) : thrown;
    return this.#finish(record, renderFailure(text), { code: error.code, cause });
  }

  #unknownTool(record: CallRecord): UnknownTool {
    const { name } = record.request;
    const meant = nearest(name, this.#tools.keys());
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`;
    const error = new UnknownTool(`unknown tool: ${name.slice(0, MAX_ECHO)}${hint}`);
    this.#end(record, error.message.length, { code: 'unknown_tool' });
    return error;
  }

  #failedCall(tool: Tool, request: CallRequest): FailedCall {
    return { tool, args: request.args, agentFiles: () => agentFilesOf(this.#service, request) };
  }

  #finish(record: CallRecord, { json, bytes }: RenderedCall, failure?: CallFailure): JsonChunks {
    this.#end(record, bytes, failure);
    return json;
  }

  /** Logs the call once its response is out. The call counts as running until then, so that a shutdown waits for its line. */
  #end({ request, subject, started }: CallRecord, responseBytes: number, failure?: CallFailure): void {
    const { dialect, logger, activity, running, agentFiles } = this.#service;
    const { name: tool, client } = request;
    const durationMs = performance.now() - started;
    this.#afterResponse.add(() => {
      const { about, root, path } = subject;
      const event = { tool, dialect: dialect.name, client, root, path, about, durationMs, responseBytes, failure };
      recordCall(logger, event, activity);
      running.end(request.running);
    });
    // What is kept under a key that is never used again could not be reached any more.
    if (client.kind === 'anonymous') agentFiles?.drop(client.key);
  }

  /** Ends a run that goes on when the client has answered. */
  #suspend({ request }: CallRecord, required: InputRequired): InputRequired {
    const { dialect, logger, running, agentFiles } = this.#service;
    const { name: tool, client } = request;
    logger.debug({ tool, dialect: dialect.name, client: client.name }, 'client asked');
    running.end(request.running);
    // Without a question the SDK runs the call again at once, under another key.
    if (client.kind === 'anonymous' && required.questions.size === 0) agentFiles?.drop(client.key);
    return required;
  }
}

/**
 * Runs work once the responses of this turn of the event loop are written. All of it shares one `setImmediate`, since one for
 * each call would cost as much as the call.
 */
class PostResponseQueue {
  #work: (() => void)[] = [];

  add(work: () => void): void {
    if (this.#work.push(work) === 1) setImmediate(this.#run);
  }

  readonly #run = (): void => {
    const work = this.#work;
    this.#work = [];
    for (const each of work) each();
  };
}
