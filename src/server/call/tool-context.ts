import { randomUUID } from 'node:crypto';
import { AgentRoot } from '../../agent/bridge/agent-root.ts';
import type { FilesystemBridge } from '../../agent/bridge/filesystem-bridge.ts';
import type { Sample } from '../../agent/sample.ts';
import { type CallEvent, isViolation, recordViolation } from '../../audit/record-call.ts';
import type { Root, RootPath } from '../../fence/index.ts';
import { FileError } from '../../files/errors.ts';
import { type RecordedChange, recordedBy } from '../../history/index.ts';
import type { Caller } from '../../runtime/operation-context.ts';
import { escapeUnprintable } from '../../runtime/printable.ts';
import { type CallError, ToolError } from '../../tools/errors.ts';
import { DEFAULT_RESULT_FORM, type ResultForm } from '../../tools/result-form.ts';
import type { NamedRoot } from '../../tools/roots.ts';
import type { CallContext, Tool } from '../../tools/tool.ts';
import type { Agreement, Confirm } from '../confirm/approve.ts';
import type { Arguments, CallRequest } from './running/call-request.ts';
import type { CallTimer } from './running/running-calls.ts';
import type { Service } from './service.ts';

/**
 * Arguments that name a root, and arguments that name a path. For a call with source and destination, the log's `path`
 * is the source.
 */
const ROOT_ARGUMENT = /(?:^|_)root$/;
const PATH_ARGUMENT = /(?:^|_)path$|^source$/;

/** The names of a tool's arguments that go to the log, and which of them name a root or a path. */
export interface SubjectArguments {
  readonly names: readonly string[];
  readonly roots: readonly string[];
  readonly paths: readonly string[];
}

/** Finds out which of the arguments that go to the log name a root or a path. */
export function subjectArguments(names: readonly string[]): SubjectArguments {
  return {
    names,
    roots: names.filter((name) => ROOT_ARGUMENT.test(name)),
    paths: names.filter((name) => PATH_ARGUMENT.test(name)),
  };
}

const NO_SUBJECT = subjectArguments([]);

/** Collects what a call is about, for its log line: some of its arguments, and the root and path that it uses. */
export class CallSubject {
  /** The values of the arguments that go to the log. */
  readonly about: Record<string, string> = {};
  readonly #subject: SubjectArguments;
  #root: string | undefined;

  constructor(subject: SubjectArguments = NO_SUBJECT) {
    this.#subject = subject;
  }

  /** Takes the arguments that go to the log. Called with the arguments as given, then again with defaults filled in. */
  note(args: Arguments): void {
    for (const name of this.#subject.names) {
      const value = args[name];
      if (typeof value === 'string') this.about[name] = value;
    }
  }

  /** Notes a root that the call uses. Only the first counts, which is that of the source if there are two. */
  useRoot(root: string | undefined): void {
    this.#root ??= root;
  }

  /** The root that the call used, else the first one that its arguments name. */
  get root(): string | undefined {
    return this.#root ?? this.#first(this.#subject.roots);
  }

  /** The first path that the arguments name. */
  get path(): string | undefined {
    return this.#first(this.#subject.paths);
  }

  #first(names: readonly string[]): string | undefined {
    for (const name of names) if (this.about[name] !== undefined) return this.about[name];
    return undefined;
  }
}

/** Options of a `ToolContext`. */
export interface ToolContextOptions {
  readonly service: Service;
  readonly tool: Tool;
  readonly request: CallRequest;
  /** Notes the roots that the call uses. */
  readonly subject: CallSubject;
  /** Paused while the client is asked; undefined for a tool that limits its own time. */
  readonly timer: CallTimer | undefined;
}

/**
 * The context of one call, as `CallContext` documents it. One is made for every call, so everything else is made on
 * demand.
 */
export class ToolContext implements CallContext {
  /** What a person agreed to; undefined if nobody had to. */
  agreement: Agreement | undefined;
  readonly #options: ToolContextOptions;
  #caller: Caller | undefined;

  constructor(options: ToolContextOptions) {
    this.#options = options;
  }

  get caller(): Caller {
    this.#caller ??= callerOf(this.#options);
    return this.#caller;
  }

  /** What the call has changed so far in roots with history. */
  get recorded(): RecordedChange[] {
    return this.#caller === undefined ? [] : recordedBy(this.#caller);
  }

  /** What the log says about that; undefined if nothing was changed. */
  get logged(): CallEvent['change'] {
    const { recorded } = this;
    if (recorded.length === 0) return undefined;
    const ids = recorded.map(({ change }) => change).join(' ');
    const unkept = recorded.reduce((sum, change) => sum + change.unkept, 0);
    return { call: this.caller.call, change: ids, unkept: unkept || undefined };
  }

  get signal(): AbortSignal {
    return this.#options.request.running.signal;
  }

  get client() {
    return this.#options.request.client;
  }

  get limits() {
    return this.#options.service.settings.limits;
  }

  get results(): ResultForm {
    return this.#options.request.results ?? DEFAULT_RESULT_FORM;
  }

  get search() {
    return this.#options.service.search;
  }

  get statThread() {
    return this.#options.service.statThread;
  }

  get lineIndex() {
    return this.#options.service.lineIndex;
  }

  get scheduler() {
    return this.#options.service.scheduler;
  }

  get share(): string {
    const { kind, key } = this.client;
    // Each call of an anonymous client has a key of its own, which would be a share of its own.
    return kind === 'anonymous' ? kind : key;
  }

  get durable(): boolean {
    return this.#options.service.settings.durable;
  }

  get ownerNames() {
    return this.#options.service.ownerNames;
  }

  get sample(): Sample | undefined {
    const { request, timer } = this.#options;
    return request.sample && timer ? paused(request.sample, timer) : request.sample;
  }

  /**
   * Asks the person who uses the client, or else an operator, while the time limit of the call is paused. The answer goes
   * to the log.
   */
  get confirm(): Confirm | undefined {
    const { timer, subject, request } = this.#options;
    const { running } = request;
    const confirm = this.#person;
    if (confirm === undefined) return undefined;
    return async (question, options) => {
      running.isWaiting = true;
      try {
        const asked = confirm(question, options);
        const answer = await (timer === undefined ? asked : timer.pauseFor(asked));
        subject.about.confirmation = answer;
        return answer;
      } finally {
        running.isWaiting = false;
      }
    };
  }

  /** Asks the person at the client; an operator if the client can ask nobody; undefined if no operator can be reached. */
  get #person(): Confirm | undefined {
    const { request, tool, service } = this.#options;
    const { confirm, client, clientName } = request;
    const { approvals } = service;
    if (approvals === undefined) return confirm;
    const call = { tool: tool.name, client, clientName };
    return async (question, options) => {
      const answer = (await confirm?.(question, options)) ?? 'unsupported';
      return answer === 'unsupported' ? approvals.ask(call, question, options) : answer;
    };
  }

  get agreedVersion(): CallContext['agreedVersion'] {
    const { agreement } = this;
    return agreement && ((at: RootPath) => agreement.versionAt(at));
  }

  progress(done: number, total?: number): void {
    const { progress, running } = this.#options.request;
    running.done = done;
    running.total = total;
    progress?.(done, total);
  }

  root(name: string): Root {
    const { request, tool, subject } = this.#options;
    subject.useRoot(name);
    return request.roots.use(name, tool.needs);
  }

  boundRoot(): Root {
    const { boundRoot, dialect } = this.#options.service;
    if (boundRoot === undefined) throw new Error(`the ${dialect.name} dialect is not bound to a root`);
    return this.root(boundRoot);
  }

  resolveRoot(name: string) {
    const { request, tool, subject } = this.#options;
    subject.useRoot(name);
    const found = request.roots.find(name, tool.needs);
    if (found.kind !== 'agent') return { root: found.root };
    return { agent: new AgentRoot({ name, bridge: this.agentFiles(name), sample: this.sample, signal: this.signal }) };
  }

  agentFiles(root?: string): FilesystemBridge {
    const { service, request, tool } = this.#options;
    const found = service.agentFiles?.find(request, root);
    if (found !== undefined) return found;
    throw new ToolError('tool_not_allowed', { tool: tool.name });
  }

  require(root: Root, capability: Parameters<CallContext['require']>[1]): void {
    const { roots } = this.#options.request;
    roots.use(root.name, [capability]);
    // The entry was of another type when it was decided that nobody has to be asked.
    if (this.agreement === undefined && roots.needConfirmation(root.name, [capability])) {
      throw new FileError('changed_meanwhile', {}, { root: root.name });
    }
  }

  requireWritable(root: Root): void {
    if (root.isReadOnly)
      throw new ToolError('tool_not_allowed', { tool: this.#options.tool.name }, { root: root.name });
  }

  allRoots(): NamedRoot[] {
    return this.#options.request.roots.all();
  }

  warn(message: string, facts: Parameters<CallContext['warn']>[1]): void {
    const { service, tool, request } = this.#options;
    const call = { tool: tool.name, dialect: service.dialect.name, client: request.client.name };
    service.logger.warn({ ...call, ...facts }, message);
  }

  reportFailure(path: string, error: CallError): void {
    if (!isViolation(error.code)) return;
    const { service, tool, request, subject } = this.#options;
    const { client } = request;
    const fields = { tool: tool.name, dialect: service.dialect.name, client: client.name, root: subject.root, path };
    recordViolation(
      service.logger,
      { path, client, fields, failure: { code: error.code, cause: error } },
      service.activity,
    );
  }
}

/** The most characters of a client's own name that a history keeps. */
const MAX_NAME = 100;

function callerOf({ tool, request }: ToolContextOptions): Caller {
  const { client, clientName } = request;
  const declared = clientName && escapeUnprintable(clientName.slice(0, MAX_NAME));
  return {
    tool: tool.name,
    client: client.kind === 'principal' ? client.name : declared || client.name,
    owner: client.kind === 'anonymous' ? undefined : client.key,
    // Enough of it to be unique, and short enough to be typed.
    call: randomUUID().slice(19).replace('-', ''),
  };
}

/** Wraps `sample` so that the time limit of the call is paused while the client answers. */
function paused(sample: Sample, timer: CallTimer): Sample {
  const ask: Sample = (params, options) => timer.pauseFor(sample(params, options));
  return Object.assign(ask, { separate: sample.separate });
}
