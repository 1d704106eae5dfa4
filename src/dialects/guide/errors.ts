import type { AgentErrorCode } from '../../agent/agent-error.ts';
import type { FilesystemBridge } from '../../agent/bridge/filesystem-bridge.ts';
import { BridgeError } from '../../agent/bridge-error.ts';
import { RingfenceError } from '../../errors.ts';
import type { ArgumentProblem, FailedCall } from '../../tools/dialect.ts';
import { type CallError, type ErrorCode, isCode, whyNotConfirmed } from '../../tools/errors.ts';
import { type FailureFields, failure } from './result.ts';

const INTERNAL = (): FailureFields => ({
  error: 'Internal error',
  error_type: 'system',
  instruction: 'Tell the operator, whose log has the details.',
});

/** The codes that a `BridgeError` does not describe. A new one breaks the build until it is here. */
const TOOL_FAILURES: Readonly<Record<Exclude<ErrorCode, AgentErrorCode>, (error: CallError) => FailureFields>> = {
  tool_not_allowed: () => ({
    error: 'This client may not hand over files here',
    error_type: 'permission',
    instruction: 'Ask the operator for access to the root that holds the files of clients.',
  }),
  not_confirmed: (error) => ({
    error: isCode(error, 'not_confirmed') ? whyNotConfirmed(error.details) : '',
    error_type: 'permission',
    instruction: 'Do without it, or ask the person in the conversation.',
  }),
  rate_limited: (error) => ({
    error: 'This client calls more often than it may',
    error_type: 'system',
    instruction: `Call again in ${isCode(error, 'rate_limited') ? error.details.retryAfterSeconds : 1} seconds.`,
  }),
  unknown_root: (error) => {
    const known = isCode(error, 'unknown_root') ? error.details.known.join(', ') : '';
    return {
      error: `Unknown root: ${error.root}; those that take files are: ${known || 'none'}`,
      error_type: 'validation',
      instruction: 'Name one of these roots, or none if there is only one.',
    };
  },
  // No tool of this dialect changes files of a root.
  too_large_to_keep: INTERNAL,
  unknown_change: INTERNAL,
  not_own_change: INTERNAL,
  already_undone: INTERNAL,
  undo_conflict: INTERNAL,
  undo_incomplete: INTERNAL,
  no_past_entry: INTERNAL,
};

/**
 * Formats an error as the contract's Result, with the message and instruction of `BridgeError`. Never shows a host
 * path.
 */
export function formatError(error: CallError, call: FailedCall): string {
  if (isToolFailure(error.code)) return failure(undefined, TOOL_FAILURES[error.code](error));
  const { message, errorType, instruction } = BridgeError.from(error);
  return failure(filesOf(call), { error: message, error_type: errorType, instruction });
}

/** Formats arguments that do not match a tool's schema as one Result with the error type `validation`. */
export function formatProblems(problems: readonly ArgumentProblem[], call: FailedCall): string {
  return failure(filesOf(call), {
    error: problems.map(({ message }) => message).join('; '),
    error_type: 'validation',
    instruction: `Correct ${named(problems)} and call ${call.tool.name} again. Nothing was stored.`,
  });
}

/** Returns the files that a failed call was about; undefined if its root cannot be told. */
function filesOf({ args, agentFiles }: FailedCall): FilesystemBridge | undefined {
  try {
    return agentFiles?.(typeof args.root === 'string' ? args.root : undefined);
  } catch (error) {
    if (error instanceof RingfenceError) return undefined;
    throw error;
  }
}

function isToolFailure(code: ErrorCode): code is keyof typeof TOOL_FAILURES {
  return Object.hasOwn(TOOL_FAILURES, code);
}

function named(problems: readonly ArgumentProblem[]): string {
  const names = new Set(problems.map(({ argument }) => argument).filter((argument) => argument !== ''));
  return names.size === 0 ? 'the arguments' : [...names].slice(0, 10).join(', ').slice(0, 500);
}
