import {
  type ClientCapabilities,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { AgentError } from '../../agent/agent-error.ts';
import type { Sample, SampleAnswer, SampleOptions, SampleParams } from '../../agent/sample.ts';
import { RingfenceError } from '../../errors.ts';
import { FenceError } from '../../fence/index.ts';
import { CancelledError } from '../../runtime/operation-context.ts';
import { ToolError } from '../../tools/errors.ts';
import type { Question } from '../call/input-required.ts';

/** What a client declared about being asked; undefined if it cannot be. */
export type Sampling = ClientCapabilities['sampling'];

/** Wider than the protocol's own: what an answer says is for the one who asked to judge. */
const answerSchema = z.looseObject({ content: z.unknown() });

/** Asks a 2025-era client, which answers while the call waits; undefined for one that cannot be asked. */
export function pushedSample(sampling: Sampling, { mcpReq }: ServerContext): Sample | undefined {
  if (sampling === undefined) return undefined;
  return async (params, options) => {
    const { signal, timeoutMs } = options;
    const request = { method: 'sampling/createMessage', params: questionFor(sampling, params) };
    try {
      // Sent on the stream of the call that it belongs to, or a client over HTTP would never see it.
      return toAnswer(await mcpReq.send(request as never, answerSchema, { signal, timeout: timeoutMs }));
    } catch (error) {
      throw toFailure(error, options);
    }
  };
}

/** Tools are for those who declared them: others could not parse an answer that uses one. */
export function questionFor(sampling: Sampling, { tools, ...question }: SampleParams): Question {
  return sampling?.tools === undefined ? question : { ...question, tools };
}

/** What a client answered, as far as it has the form of an answer. Raises `bad_answer` and, for a refusal, `permission_denied`. */
export function toAnswer(given: unknown): SampleAnswer {
  const { content, stopReason, action } = (given ?? {}) as Record<string, unknown>;
  if (action === 'decline' || action === 'cancel') throw refused();
  const isContent = typeof content === 'string' || (typeof content === 'object' && content !== null);
  if (!isContent) throw new AgentError('bad_answer', { problem: 'it has no content' });
  return {
    content: content as Exclude<SampleAnswer, string>['content'],
    ...(typeof stopReason === 'string' && { stopReason }),
  };
}

function refused(): RingfenceError {
  return new FenceError('permission_denied', {});
}

function toFailure(error: unknown, { signal, timeoutMs }: SampleOptions): unknown {
  if (signal?.aborted) return signal.reason instanceof RingfenceError ? signal.reason : new CancelledError();
  if (error instanceof RingfenceError) return error;
  if (error instanceof SdkError) {
    switch (error.code) {
      case SdkErrorCode.RequestTimeout:
        return new ToolError('timed_out', { seconds: timeoutMs / 1000 });
      case SdkErrorCode.InvalidResult:
        return new AgentError('bad_answer', { problem: 'it has no content' }, { cause: error });
      default:
        return new CancelledError({ cause: error });
    }
  }
  if (error instanceof ProtocolError) {
    if (error.code === ProtocolErrorCode.MethodNotFound) return new AgentError('sampling_unsupported', {});
    if (error.code === USER_REJECTED) return refused();
    return new AgentError('bad_answer', { problem: `it is an error (${error.code})` }, { cause: error });
  }
  return error;
}

/** How a client says that its user did not want to be asked. */
const USER_REJECTED = -1;
