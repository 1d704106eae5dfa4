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
import type { SamplingRequest } from '../call/input-required.ts';

/** The sampling capability that a client declared; undefined if it accepts no sampling requests. */
export type Sampling = ClientCapabilities['sampling'];

/** Accepts more than the protocol's own schema: the tool that asked checks the content. */
const answerSchema = z.looseObject({ content: z.unknown() });

/**
 * Returns a function that asks a client of a revision before 2026-07-28 by `sampling/createMessage`, while its call
 * waits; undefined for a client that accepts no sampling requests. The function raises `timed_out`, `cancelled`,
 * `bad_answer`, `sampling_unsupported` and, for a refusal, `permission_denied`.
 */
export function pushedSample(sampling: Sampling, { mcpReq }: ServerContext): Sample | undefined {
  if (sampling === undefined) return undefined;
  return async (params, options) => {
    const { signal, timeoutMs } = options;
    const request = { method: 'sampling/createMessage', params: questionFor(sampling, params) };
    try {
      // `mcpReq.send` uses the event stream of the call. A client over HTTP may have no other stream open.
      return toAnswer(await mcpReq.send(request as never, answerSchema, { signal, timeout: timeoutMs }));
    } catch (error) {
      throw toFailure(error, options);
    }
  };
}

/**
 * Returns the request to send, without tools for a client that did not declare `sampling.tools`, as the protocol
 * requires.
 */
export function questionFor(sampling: Sampling, { tools, ...question }: SampleParams): SamplingRequest {
  return sampling?.tools === undefined ? question : { ...question, tools };
}

/** Checks the form of a client's answer. Raises `bad_answer` and, for a refusal, `permission_denied`. */
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

/** The error code by which a client reports that its user rejected the request, as the protocol's examples have it. */
const USER_REJECTED = -1;
