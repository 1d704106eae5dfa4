import type { CallToolResult } from '@modelcontextprotocol/server';
import { type CallFailure, recordCall } from '../../audit/call-event.ts';
import { RingfenceError } from '../../errors.ts';
import { argumentChecker, type CheckedArguments } from '../../tools/check-arguments.ts';
import type { Client } from '../../tools/client.ts';
import { ToolError } from '../../tools/errors.ts';
import { nearest } from '../../tools/nearest.ts';
import type { Roots } from '../../tools/roots.ts';
import type { CallContext } from '../../tools/tool.ts';
import { CallSubject, subjectArguments } from './call-subject.ts';
import { CallTimer } from './call-timer.ts';
import { InputRequired } from './input-required.ts';
import { PostResponseQueue } from './post-response-queue.ts';
import { type Args, asResult, type RenderedAnswer, type Renderer } from './render.ts';
import type { RunningCall } from './running-calls.ts';
import type { Service } from './service.ts';
import { agentFilesOf, ToolContext, type ToolContextOptions } from './tool-context.ts';

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
  const afterResponse = new PostResponseQueue();
  const tools = new Map(
    dialect.tools.map((tool) => [
      tool.name,
      { tool, check: argumentChecker(tool.input), subject: subjectArguments(tool.subject) },
    ]),
  );

  return async (request) => {
    const { name, args, client } = request;
    const started = performance.now();
    const running = service.running.start(request.signal);
    request.onStart?.(running);
    const found = tools.get(name);
    const agent = () => agentFilesOf(service, request);
    const call = new CallSubject(found?.subject);
    call.note(args);
    const finish = ({ answer, bytes }: RenderedAnswer<T>, failure?: CallFailure): T => {
      log(bytes, failure);
      return answer;
    };
    const log = (responseBytes: number, failure?: CallFailure): void => {
      const durationMs = performance.now() - started;
      // The answer goes out first. A call is over when its line is written: a shutdown waits for that.
      afterResponse.add(() => {
        const { about, root, path } = call;
        recordCall(
          logger,
          { tool: name, dialect: dialect.name, client, root, path, about, durationMs, responseBytes, failure },
          service.activity,
        );
        service.running.end(running);
      });
      // Nothing could lead back to what was kept under a key that is never used again.
      if (client.kind === 'anonymous') service.agentFiles?.drop(client.key);
    };
    /** The call goes on when the client has answered. */
    const wait = (needed: InputRequired): never => {
      logger.debug({ tool: name, dialect: dialect.name, client: client.name }, 'client asked');
      service.running.end(running);
      // Without a question it is run again at once, by somebody else and under another key.
      if (client.kind === 'anonymous' && needed.questions.size === 0) service.agentFiles?.drop(client.key);
      throw needed;
    };
    if (found === undefined) {
      const meant = nearest(name, tools.keys());
      const message = `unknown tool: ${name.slice(0, MAX_ECHO)}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`;
      log(message.length, { code: 'unknown_tool' });
      throw new UnknownTool(message);
    }
    const { tool, check } = found;
    const checked: CheckedArguments<Args> = check(args);
    if ('problems' in checked) {
      const text = dialect.formatProblems(checked.problems, { tool, args, agent });
      return finish(render.failure(text), { code: 'invalid_argument' });
    }
    call.note(checked.value);
    try {
      const value = await run({ service, tool, request, running, subject: call, afterResponse }, checked.value);
      return finish(render.success(tool, value, checked.value));
    } catch (thrown) {
      if (thrown instanceof InputRequired) return wait(thrown);
      const error = thrown instanceof RingfenceError ? thrown : new ToolError('internal', {});
      call.useRoot(error.root);
      const failure: CallFailure = {
        code: error.code,
        cause: error.code === 'internal' ? (error.cause ?? thrown) : thrown,
      };
      return finish(render.failure(dialect.formatError(error, { tool, args, agent })), failure);
    }
  };
}

type Run = Omit<ToolContextOptions, 'timer'> & { readonly afterResponse: PostResponseQueue };

async function run({ service, tool, request, running, subject, afterResponse }: Run, args: Args): Promise<Args> {
  const { requestTimeout } = service;
  const expire = (): void => running.abort(new ToolError('timed_out', { seconds: requestTimeout }));
  const timer = tool.ownTimeout ? undefined : new CallTimer(requestTimeout * 1000, { expire, afterResponse });
  try {
    return await tool.run(args, new ToolContext({ service, tool, request, running, subject, timer }));
  } finally {
    timer?.stop();
  }
}
