import { AgentRoot } from '../../agent/bridge/agent-root.ts';
import type { FilesystemBridge } from '../../agent/bridge/filesystem-bridge.ts';
import type { Sample } from '../../agent/sample.ts';
import type { Root } from '../../fence/index.ts';
import { ToolError } from '../../tools/errors.ts';
import type { NamedRoot } from '../../tools/roots.ts';
import type { CallContext, Tool } from '../../tools/tool.ts';
import type { CallSubject } from './call-subject.ts';
import type { CallTimer } from './call-timer.ts';
import type { Service } from './service.ts';
import type { CallRequest } from './tool-caller.ts';

export interface ToolContextOptions {
  readonly service: Service;
  readonly tool: Tool;
  readonly request: CallRequest;
  /** Told which roots are used. */
  readonly subject: CallSubject;
  /** Stands still while the client is asked. */
  readonly timer: CallTimer | undefined;
}

/** What one call may use. Made for every call, so it holds little; the rest is made when a tool asks for it. */
export class ToolContext implements CallContext {
  readonly #options: ToolContextOptions;

  constructor(options: ToolContextOptions) {
    this.#options = options;
  }

  get signal(): AbortSignal {
    return this.#options.request.running.signal;
  }

  get client() {
    return this.#options.request.client;
  }

  get limits() {
    return this.#options.service.limits;
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

  get durable(): boolean {
    return this.#options.service.durable;
  }

  get sample(): Sample | undefined {
    const { request, timer } = this.#options;
    return request.sample && timer ? paused(request.sample, timer) : request.sample;
  }

  progress(done: number, total?: number): void {
    this.#options.request.progress(done, total);
  }

  root(name: string): Root {
    const { request, tool, subject } = this.#options;
    subject.useRoot(name);
    return request.roots.use(name, tool.needs);
  }

  boundRoot(): Root {
    const { boundRoot: home, dialect } = this.#options.service;
    if (home === undefined) throw new Error(`the ${dialect.name} dialect is not bound to a root`);
    return this.root(home);
  }

  resolveRoot(name: string) {
    const { request, tool, subject } = this.#options;
    subject.useRoot(name);
    const found = request.roots.find(name, tool.needs);
    if (found.kind !== 'agent') return { root: found.root };
    return { agent: new AgentRoot({ name, bridge: this.agentFiles(), sample: this.sample, signal: this.signal }) };
  }

  agentFiles(): FilesystemBridge {
    const { service, request, tool } = this.#options;
    const found = agentFilesOf(service, request);
    if (found !== undefined) return found;
    throw new ToolError('tool_not_allowed', { tool: tool.name });
  }

  require(root: Root, capability: Parameters<CallContext['require']>[1]): void {
    this.#options.request.roots.use(root.name, [capability]);
  }

  allRoots(): NamedRoot[] {
    return this.#options.request.roots.all();
  }

  warn(message: string, facts: Parameters<CallContext['warn']>[1]): void {
    const { service, tool, request } = this.#options;
    const call = { tool: tool.name, dialect: service.dialect.name, client: request.client.name };
    service.logger.warn({ ...call, ...facts }, message);
  }
}

/** What the client of a call has handed over; undefined if it may not know of the root that these files appear as. */
export function agentFilesOf(
  { agentFiles: agent, agentRoot }: Pick<Service, 'agentFiles' | 'agentRoot'>,
  { client, roots }: Pick<CallRequest, 'client' | 'roots'>,
): FilesystemBridge | undefined {
  return agentRoot === undefined || roots.has(agentRoot) ? agent?.of(client.key) : undefined;
}

/** Time that the client takes to answer is not the call's. */
function paused(sample: Sample, timer: CallTimer): Sample {
  const ask: Sample = (params, options) => timer.pauseFor(sample(params, options));
  return Object.assign(ask, { separate: sample.separate });
}
