import {
  type ClientCapabilities,
  type ElicitRequestFormParams,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { CancelledError, throwIfAborted } from '../../runtime/operation-context.ts';
import type { NotConfirmedReason } from '../../tools/errors.ts';
import type { Confirm, Confirmation } from '../confirm/approve.ts';

/** The elicitation capability that a client declared; undefined if it accepts no such requests. */
export type Elicitation = ClientCapabilities['elicitation'];

/** Accepts more than the protocol's own schema: `toReply` decides. */
const answerSchema = z.looseObject({});

/**
 * Returns a function that asks the person at a client of a revision before 2026-07-28 by `elicitation/create`, while the
 * call waits; undefined for a client that shows no forms. A question that is not answered in time, or whose call is
 * cancelled, is taken back by `notifications/cancelled`.
 */
export function pushedConfirm(elicitation: Elicitation, { mcpReq }: ServerContext): Confirm | undefined {
  if (!showsForms(elicitation)) return undefined;
  return async (question, { signal, timeoutMs }) => {
    const request = { method: 'elicitation/create', params: formFor(question) };
    try {
      // `mcpReq.send` uses the event stream of the call. A client over HTTP may have no other stream open.
      return toReply(await mcpReq.send(request as never, answerSchema, { signal, timeout: timeoutMs }));
    } catch (error) {
      throwIfAborted(signal);
      if (error instanceof SdkError) {
        if (error.code === SdkErrorCode.RequestTimeout) return 'unanswered';
        if (error.code === SdkErrorCode.InvalidResult) return 'bad_answer';
        throw new CancelledError({ cause: error });
      }
      if (!(error instanceof ProtocolError)) throw error;
      return error.code === ProtocolErrorCode.MethodNotFound ? 'unsupported' : 'bad_answer';
    }
  };
}

/** Reports whether a client shows forms. One that declares no mode does: the modes are younger than the capability. */
export function showsForms(elicitation: Elicitation): boolean {
  if (elicitation === undefined) return false;
  return elicitation.form !== undefined || elicitation.url === undefined;
}

/**
 * Returns the form to show. It has no fields: to accept it is to agree. It names no mode, which clients of the first
 * revision with elicitation do not know; without one it is a form.
 */
export function formFor({ message }: Confirmation): ElicitRequestFormParams {
  return { message, requestedSchema: { type: 'object', properties: {} } };
}

/** Reads the answer of a client. */
export function toReply(given: unknown): 'agreed' | NotConfirmedReason {
  const { action } = (given ?? {}) as { readonly action?: unknown };
  if (action === 'accept') return 'agreed';
  if (action === 'decline') return 'declined';
  return action === 'cancel' ? 'dismissed' : 'bad_answer';
}
