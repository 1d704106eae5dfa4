import type { AgentErrorDetails } from '../agent/agent-error.ts';
import { codeGuard, RingfenceError } from '../errors.ts';

/** What each code of a `ToolError` carries. */
export type ToolErrorDetails = {
  invalid_argument: { readonly problem: string; readonly argument?: string };
  unknown_root: { readonly known: readonly string[] };
  tool_not_allowed: { readonly tool: string };
  result_too_large: { readonly size: number; readonly limit: number };
  timed_out: { readonly seconds: number };
  /** A bug. The cause is in the log; a client hears nothing of it. */
  internal: object;
};

/** What a tool refuses before, or besides, what it works with. */
export class ToolError<C extends keyof ToolErrorDetails = keyof ToolErrorDetails> extends RingfenceError<
  ToolErrorDetails,
  C
> {}

/** The closed list of failures that a call can end with. A dialect words every one of them. */
export type ErrorDetails = AgentErrorDetails & ToolErrorDetails;

export type ErrorCode = keyof ErrorDetails;

/** An error that a call ended with, whichever part of the program raised it. */
export type CallError<C extends ErrorCode = ErrorCode> = RingfenceError<ErrorDetails, C>;

export const isCode = codeGuard<ErrorDetails>();
