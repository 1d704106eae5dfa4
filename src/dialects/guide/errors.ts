import type { FilesystemBridge } from '../../agent/bridge/filesystem-bridge.ts';
import { BridgeError } from '../../agent/bridge-error.ts';
import { RingfenceError } from '../../errors.ts';
import type { ArgumentProblem, FailedCall } from '../../tools/dialect.ts';
import { type CallError, isCode } from '../../tools/errors.ts';
import { failure } from './result.ts';

/**
 * Formats an error as the contract's Result, with the message and instruction of `BridgeError`. Never shows a host
 * path.
 */
export function formatError(error: CallError, call: FailedCall): string {
  if (isCode(error, 'tool_not_allowed')) {
    return failure(undefined, {
      error: 'This client may not hand over files here',
      error_type: 'permission',
      instruction: 'Ask the operator for access to the root that holds the files of clients.',
    });
  }
  if (isCode(error, 'unknown_root')) {
    const names = error.details.known.join(', ') || 'none';
    return failure(undefined, {
      error: `Unknown root: ${error.root}; those that take files are: ${names}`,
      error_type: 'validation',
      instruction: 'Name one of these roots, or none if there is only one.',
    });
  }
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

function named(problems: readonly ArgumentProblem[]): string {
  const names = new Set(problems.map(({ argument }) => argument).filter((argument) => argument !== ''));
  return names.size === 0 ? 'the arguments' : [...names].slice(0, 10).join(', ').slice(0, 500);
}
