import { type CallFailure, recordCall } from '../../audit/record-call.ts';
import { traceContextOf } from '../../audit/trace-context.ts';
import { RingfenceError } from '../../errors.ts';
import type { Refusal } from '../../fence/index.ts';
import { escapeUnprintable } from '../../runtime/printable.ts';
import { type CheckedArguments, type CheckSteps, isStepped, steppedChecker } from '../../tools/check-arguments.ts';
import type { FailedCall } from '../../tools/dialect.ts';
import { type CallError, isCode, ToolError } from '../../tools/errors.ts';
import { closest } from '../../tools/nearest.ts';
import type { Roots } from '../../tools/roots.ts';
import type { Tool } from '../../tools/tool.ts';
import type { JsonChunks } from '../../wire/json-chunks.ts';
import { approve } from '../confirm/approve.ts';
import { CallSlot } from '../limits/client-limits.ts';
import { InputRequired } from './input-required.ts';
import { type RenderedCall, type ResultFields, renderFailure, renderSuccess } from './render-result.ts';
import { mayBeTransient, retryRead, transientError } from './retry-read.ts';
import type { Arguments, CallRequest } from './running/call-request.ts';
import { type CallInProgress, CallTimer } from './running/running-calls.ts';
import type { Service } from './service.ts';
import { withSharedFiles } from './shared-files-call.ts';
import { shortArguments, shortError, shortProblems } from './short-failure.ts';
import { CallSubject, type SubjectArguments, subjectArguments, ToolContext } from './tool-context.ts';

/** How much of an unknown tool's name an error repeats. */
const MAX_ECHO = 100;

/**
 * Thrown for a tool that does not exist. A protocol error, unlike the failure of a tool: JSON-RPC's "invalid params".
 */
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
  check(args: unknown): CheckedArguments<Arguments> | CheckSteps<Arguments>;
}

/** What the log line of a call is made from. */
interface CallRecord extends CallInProgress {
  readonly request: CallRequest;
  readonly subject: CallSubject;
  /** Set once the tool runs. */
  context?: ToolContext;
}

/**
 * Runs every call, whatever its transport and protocol revision: checks the arguments, runs the tool under a time limit
 * with the roots that the client may use, renders the result or the dialect's wording of the failure, and writes one
 * line to the log.
 */
export class ToolCaller {
  readonly #service: Service;
  /** The tools of the dialect, and the list that they were made of: the dialect may get another one. */
  #tools: ReadonlyMap<string, CallableTool> = new Map();
  #listed: readonly Tool[] = [];
  readonly #afterResponse = new PostResponseQueue();

  constructor(service: Service) {
    this.#service = service;
    this.#takeTools(service.dialect.tools);
  }

  /**
   * Runs a call and returns its `CallToolResult` as JSON without the closing brace, because the revisions of the
   * protocol add different fields at the end. A failure is a result too. Rejects only for a tool that does not exist,
   * and with `InputRequired`.
   */
  async call(request: CallRequest): Promise<JsonChunks> {
    if (this.#listed !== this.#service.dialect.tools) this.#takeTools(this.#service.dialect.tools);
    const callable = this.#tools.get(request.name);
    const subject = new CallSubject(callable?.subject);
    const record: CallRecord = {
      dialect: this.#service.dialect.name,
      request,
      subject,
      started: performance.now(),
    };
    request.running.inProgress = record;
    subject.note(request.args);
    if (callable === undefined) throw this.#unknownTool(record);
    const { tool, check } = callable;
    const rate = request.limits?.rate;
    const retryAfterSeconds = rate?.takeShared === undefined ? (rate?.take() ?? 0) : await rate.takeShared();
    if (retryAfterSeconds > 0) return this.#fail(record, tool, new ToolError('rate_limited', { retryAfterSeconds }));
    const begun = check(request.args);
    const checked = isStepped(begun) ? await this.#inTurns(begun) : begun;
    if ('problems' in checked) {
      const text = this.#service.dialect.formatProblems(
        shortProblems(checked.problems),
        this.#failedCall(tool, request),
      );
      return this.#finish(record, renderFailure(text), { code: 'invalid_argument' });
    }
    subject.note(checked.value);
    if (checked.isLarge) await this.#service.scheduler.yieldTurn();
    try {
      const value = this.#usesSharedFiles(checked.value)
        ? await withSharedFiles(this.#service, request, (shared) => this.#run(tool, checked.value, record, shared))
        : await this.#run(tool, checked.value, record);
      return this.#finish(record, renderSuccess(tool, value, { args: checked.value, mode: request.results?.mode }));
    } catch (thrown) {
      if (thrown instanceof InputRequired) throw this.#suspend(record, thrown);
      return this.#fail(record, tool, thrown);
    }
  }

  #takeTools(tools: readonly Tool[]): void {
    this.#listed = tools;
    this.#tools = new Map(
      tools.map((tool) => [
        tool.name,
        { tool, check: steppedChecker(tool.input), subject: subjectArguments(tool.subject) },
      ]),
    );
  }

  /** Takes the steps of a check, so that other calls and I/O get their turns between them. */
  async #inTurns(steps: CheckSteps<Arguments>): Promise<CheckedArguments<Arguments>> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      await this.#service.scheduler.yieldTurn();
    }
  }

  /** Reports whether a call may use files that its client handed over to another replica. */
  #usesSharedFiles(args: Arguments): boolean {
    const { agentFiles, store, dialect } = this.#service;
    if (store === undefined || agentFiles === undefined) return false;
    // A tool that takes files need not name their root.
    if (dialect.takesFiles && args.root === undefined) return true;
    return Object.values(args).some((value) => agentFiles.hasRoot(value));
  }

  async #run(tool: Tool, args: Arguments, record: CallRecord, request = record.request): Promise<ResultFields> {
    const { subject } = record;
    const service = this.#service;
    const { requestTimeout } = service.settings;
    const { calls, key = '' } = request.limits ?? {};
    const wait = calls?.take(key);
    if (wait !== undefined) await wait;
    const slot = calls && new CallSlot(calls, key);
    const expire = (): void => request.running.abort(new ToolError('timed_out', { seconds: requestTimeout }));
    const timer = tool.ownTimeout
      ? undefined
      : new CallTimer(requestTimeout * 1000, { expire, defer: (work) => this.#afterResponse.add(work), slot });
    try {
      const context = new ToolContext({ service, tool, request, subject, timer });
      record.context = context;
      if (tool.changes !== undefined && request.roots.someConfirm) {
        return await this.#runConfirmed(tool, args, { request, context });
      }
      return await tool.run(args, context);
    } catch (error) {
      if (tool.effect !== 'read' || record.context === undefined || !mayBeTransient(error, request.roots)) throw error;
      return await retryRead(tool, args, record.context);
    } finally {
      timer?.stop();
      slot?.close();
    }
  }

  /** Runs a tool that may need the agreement of a person. This is the one place that asks for it. */
  async #runConfirmed(
    tool: Tool,
    args: Arguments,
    { request: { roots }, context }: { request: CallRequest; context: ToolContext },
  ): Promise<ResultFields> {
    const { confirm } = context;
    const timeoutMs = this.#service.settings.confirmTimeout * 1000;
    const agreement = await approve({ tool, args, context, roots, confirm, timeoutMs });
    if (agreement === undefined) return tool.run(args, context);
    context.agreement = agreement;
    try {
      return await tool.run(args, context);
    } catch (error) {
      throw agreement.failureOf(error);
    }
  }

  #fail(record: CallRecord, tool: Tool, thrown: unknown): JsonChunks {
    const known = thrown instanceof RingfenceError ? thrown : transientError(thrown);
    const error = (known ?? new ToolError('internal', {})) as CallError;
    record.subject.useRoot(error.root);
    const text = this.#service.dialect.formatError(shortError(error), this.#failedCall(tool, record.request));
    const cause = error.code === 'internal' ? (error.cause ?? thrown) : thrown;
    const rule = decidingRule(error, record.request.roots);
    return this.#finish(record, renderFailure(text), { code: error.code, cause, rule });
  }

  #unknownTool(record: CallRecord): UnknownTool {
    const { name } = record.request;
    const meant = closestTool(name, [...this.#tools.keys()]);
    const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`;
    const error = new UnknownTool(`unknown tool: ${escapeUnprintable(name.slice(0, MAX_ECHO))}${hint}`);
    this.#end(record, error.message.length, { code: 'unknown_tool' });
    return error;
  }

  #failedCall(tool: Tool, request: CallRequest): FailedCall {
    return {
      tool,
      args: shortArguments(request.args),
      roots: request.roots,
      agentFiles: (root) => this.#service.agentFiles?.find(request, root),
    };
  }

  #finish(record: CallRecord, { json, bytes }: RenderedCall, failure?: CallFailure): JsonChunks {
    this.#end(record, bytes, failure);
    return json;
  }

  /**
   * Logs the call after its response is written. The call counts as running until then, so that a shutdown waits for
   * the line.
   */
  #end({ request, subject, started, context }: CallRecord, responseBytes: number, failure?: CallFailure): void {
    const { dialect, logger, activity, observers = [], running, agentFiles } = this.#service;
    const { name: tool, client } = request;
    const durationMs = performance.now() - started;
    this.#afterResponse.add(() => {
      const { about, root, path } = subject;
      const event = {
        tool,
        dialect: dialect.name,
        client,
        clientName: request.clientName,
        root,
        path,
        about,
        durationMs,
        responseBytes,
        failure,
        change: context?.logged,
        trace: traceContextOf(request.meta),
      };
      recordCall(logger, event, activity);
      for (const observe of observers) observe(event);
      running.end(request.running);
    });
    // An anonymous client gets a new key with its next call, so nothing could reach these files again.
    if (client.kind === 'anonymous' && agentFiles?.drop(client.key)) agentFiles.forget(client.key);
  }

  /** Ends a run without a log line: the call is run again once the client has answered. */
  #suspend({ request }: CallRecord, required: InputRequired): InputRequired {
    const { dialect, logger, running, agentFiles } = this.#service;
    const { name: tool, client, limits } = request;
    logger.debug({ tool, dialect: dialect.name, client: client.name }, 'client asked');
    running.end(request.running);
    // Without a question the SDK runs the call again at once, under a new key.
    if (required.questions.size === 0) {
      limits?.rate?.putBack();
      if (client.kind === 'anonymous' && agentFiles?.drop(client.key)) agentFiles.forget(client.key);
    }
    return required;
  }
}

/**
 * Returns the tool that a name is a misspelling of, whatever its case and separators. Few edits are allowed, because
 * `rename_file` must not be taken for `remove_file`.
 */
function closestTool(name: string, tools: readonly string[]): string | undefined {
  const letters = (text: string): string => text.slice(0, MAX_ECHO).replace(/[^\p{L}\p{N}]/gu, '');
  const wanted = letters(name);
  const byLetters = new Map(tools.map((tool) => [letters(tool), tool]));
  const options = { maxEdits: wanted.length <= SHORT_NAME ? 1 : 2, count: 1 };
  return byLetters.get(closest(wanted, byLetters.keys(), options)[0] ?? '');
}

/** Up to this many letters, only one edit is taken for a misspelling. */
const SHORT_NAME = 10;

/**
 * Returns the rule of a root because of which a call failed, for the log: clients are told only that there is no such
 * file.
 */
function decidingRule(error: CallError, roots: Roots): Refusal | undefined {
  if (isCode(error, 'not_allowed')) return error.details;
  const { path, root: name } = error;
  if (!isCode(error, 'not_found') || path === undefined || name === undefined || !roots.has(name)) return undefined;
  const found = roots.find(name, []);
  if (found.kind === 'agent') return undefined;
  const { root } = found;
  try {
    const refusal = root.explain(root.parse(path));
    return refusal?.rule === 'deny' ? refusal : undefined;
  } catch (thrown) {
    if (thrown instanceof RingfenceError) return undefined;
    throw thrown;
  }
}

/**
 * Runs work after the responses of this turn of the event loop are written. All of it shares one `setImmediate`,
 * because one per call would cost as much as a small call.
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
