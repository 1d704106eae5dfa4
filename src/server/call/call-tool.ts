import type { CallToolResult } from '@modelcontextprotocol/server';
import { type Failure, recordCall } from '../../audit/call-event.ts';
import { RingfenceError } from '../../errors.ts';
import { type Checked, checker } from '../../tools/check-arguments.ts';
import type { Client } from '../../tools/client.ts';
import { nearest } from '../../tools/nearest.ts';
import type { Roots } from '../../tools/roots.ts';
import type { CallContext } from '../../tools/tool.ts';
import { Noted, subjectOf } from './call-subject.ts';
import { Clock } from './call-timer.ts';
import { InputNeeded } from './input-needed.ts';
import { Afterwards } from './post-response-queue.ts';
import { type Args, asResult, type Rendered, type Renderer } from './render.ts';
import type { RunningCall } from './running-calls.ts';
import type { Service } from './service.ts';
import { agentOf, ToolContext, type ToolContextParts } from './tool-context.ts';

/** How much of a wrong name is said back. */
const MAX_ECHO = 100;

export interface CallRequest {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly client: Client;
  /** Those that this client may know of. */
  readonly roots: Roots;
  readonly sample: CallContext['sample'];
  /** Aborted when the client cancels or goes away. */
  readonly signal?: AbortSignal;
  /** Hears of the call at once, to be able to stop it: a signal costs more, and most calls are over before anyone needs one. */
  onStart?(running: RunningCall): void;
  progress(done: number, total?: number): void;
}

/** The client asked for a tool that does not exist: an error of the protocol, with its code for invalid parameters. */
class UnknownTool extends Error {
  readonly code = -32602;

  constructor(message: string) {
    super(message);
    this.name = 'UnknownTool';
  }
}

/** Calls a tool and answers in some form. */
export type CallTool<T = CallToolResult> = (request: CallRequest) => Promise<T>;

/** Calls that are answered as the SDK takes it. */
export function toolCaller(service: Service): CallTool {
  return callerWith(service, asResult);
}

/**
 * The way of every call, whatever the transport: arguments checked, roots handed out under their allowlists, time limited,
 * failures worded by the dialect, one line in the log. Rejects only for a tool that does not exist, and with `InputNeeded`.
 */
export function callerWith<T>(service: Service, render: Renderer<T>): CallTool<T> {
  const { dialect, logger } = service;
  const afterwards = new Afterwards();
  const tools = new Map(
    dialect.tools.map((tool) => [tool.name, { tool, check: checker(tool.input), subject: subjectOf(tool.subject) }]),
  );

  return async (request) => {
    const { name, args, client } = request;
    const started = performance.now();
    const running = service.running.start(request.signal);
    request.onStart?.(running);
    const found = tools.get(name);
    const agent = () => agentOf(service, request);
    const call = new Noted(found?.subject);
    call.describe(args);
    const finish = ({ answer, bytes }: Rendered<T>, failure?: Failure): T => {
      log(bytes, failure);
      return answer;
    };
    const log = (responseBytes: number, failure?: Failure): void => {
      const durationMs = performance.now() - started;
      // The answer goes out first. A call is over when its line is written: a shutdown waits for that.
      afterwards.add(() => {
        const { about, root, path } = call;
        recordCall(
          logger,
          { tool: name, dialect: dialect.name, client, root, path, about, durationMs, responseBytes, failure },
          service.activity,
        );
        service.running.end(running);
      });
      // Nothing could lead back to what was kept under a key that is never used again.
      if (client.kind === 'anonymous') service.agent?.drop(client.key);
    };
    /** The call goes on when the client has answered. */
    const wait = (needed: InputNeeded): never => {
      logger.debug({ tool: name, dialect: dialect.name, client: client.name }, 'client asked');
      service.running.end(running);
      // Without a question it is run again at once, by somebody else and under another key.
      if (client.kind === 'anonymous' && needed.questions.size === 0) service.agent?.drop(client.key);
      throw needed;
    };
    if (found === undefined) {
      const meant = nearest(name, tools.keys());
      const message = `unknown tool: ${name.slice(0, MAX_ECHO)}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`;
      log(message.length, { code: 'unknown_tool' });
      throw new UnknownTool(message);
    }
    const { tool, check } = found;
    const checked: Checked<Args> = check(args);
    if ('problems' in checked) {
      const text = dialect.wordProblems(checked.problems, { tool, args, agent });
      return finish(render.failure(text), { code: 'invalid_argument' });
    }
    call.describe(checked.value);
    try {
      const value = await run({ service, tool, request, running, noted: call, afterwards }, checked.value);
      return finish(render.success(tool, value, checked.value));
    } catch (thrown) {
      if (thrown instanceof InputNeeded) return wait(thrown);
      const error = thrown instanceof RingfenceError ? thrown : new RingfenceError('internal', {});
      call.use(error.root);
      const failure: Failure = {
        code: error.code,
        cause: error.code === 'internal' ? (error.cause ?? thrown) : thrown,
      };
      return finish(render.failure(dialect.wordError(error, { tool, args, agent })), failure);
    }
  };
}

type Run = Omit<ToolContextParts, 'clock'> & { readonly afterwards: Afterwards };

async function run({ service, tool, request, running, noted, afterwards }: Run, args: Args): Promise<Args> {
  const { requestTimeout } = service;
  const expire = (): void => running.abort(new RingfenceError('timed_out', { seconds: requestTimeout }));
  const clock = tool.ownTimeout ? undefined : new Clock(requestTimeout * 1000, { expire, afterwards });
  try {
    return await tool.run(args, new ToolContext({ service, tool, request, running, noted, clock }));
  } finally {
    clock?.stop();
  }
}
