import type { AgentErrorDetails } from '../agent/agent-error.ts';
import { codeGuard, RingfenceError } from '../errors.ts';
import type { HistoryErrorDetails } from '../history/index.ts';
import type { UndoErrorDetails } from '../undo/index.ts';

/**
 * Why a person did not agree: the client cannot ask one, the person said no or dismissed the question, nobody answered
 * in time, or the answer was neither yes nor no.
 */
export type NotConfirmedReason = 'unsupported' | 'declined' | 'dismissed' | 'unanswered' | 'bad_answer';

/** The details of each code of a `ToolError`. */
export type ToolErrorDetails = {
  invalid_argument: { readonly problem: string; readonly argument?: string };
  unknown_root: { readonly known: readonly string[] };
  tool_not_allowed: { readonly tool: string };
  result_too_large: { readonly size: number; readonly limit: number };
  /** The client calls more often than it may. */
  rate_limited: { readonly retryAfterSeconds: number };
  timed_out: { readonly seconds: number };
  /** A person has to agree to the call first, and did not. Nothing was changed. */
  not_confirmed: { readonly reason: NotConfirmedReason; readonly seconds: number };
  /** The history of the root has no such change; `expired` if it had one that was not kept any longer. */
  unknown_change: { readonly change: string; readonly expired: boolean };
  /** The change is another client's; `anonymous` if the client that asks has no identity, and so no changes. */
  not_own_change: { readonly change: string; readonly anonymous: boolean };
  already_undone: { readonly change: string };
  /** A bug. The cause goes to the log only. */
  internal: object;
};

/** An expected failure of a tool itself or of the call around it, rather than of the files it works on. */
export class ToolError<C extends keyof ToolErrorDetails = keyof ToolErrorDetails> extends RingfenceError<
  ToolErrorDetails,
  C
> {}

/** The details of every code that a call can fail with. Each dialect formats all of them. */
export type ErrorDetails = AgentErrorDetails & HistoryErrorDetails & UndoErrorDetails & ToolErrorDetails;

/** A code that a call can fail with. */
export type ErrorCode = keyof ErrorDetails;

/** An error that a call can fail with, from any layer. */
export type CallError<C extends ErrorCode = ErrorCode> = RingfenceError<ErrorDetails, C>;

/** Reports whether an error is a `RingfenceError` with one of these codes, of whatever class. */
export const isCode = codeGuard<ErrorDetails>();

/** Says why a person did not agree to a call, and that nothing has happened. */
export function whyNotConfirmed({ reason, seconds }: ToolErrorDetails['not_confirmed']): string {
  const needed = 'a person has to agree to this first';
  const why = {
    unsupported: `${needed}, and this client cannot ask one: it does not support elicitation`,
    declined: 'the person who was asked said no',
    dismissed: 'the person who was asked dismissed the question, which counts as a no',
    unanswered: `${needed}, and nobody answered within ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`,
    bad_answer: `${needed}, and the client's answer was neither yes nor no`,
  }[reason];
  return `${why}; nothing was changed`;
}
