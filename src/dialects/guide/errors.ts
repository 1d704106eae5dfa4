import { BridgeError } from '../../agent/bridge-error.ts';
import type { ArgumentProblem, FailedCall } from '../../tools/dialect.ts';
import { type CallError, isCode } from '../../tools/errors.ts';
import { failure } from './result.ts';

/**
 * Formats an error as the contract's Result, with the message and instruction of `BridgeError`. Never shows a host
 * path.
 */
export function formatError(error: CallError, { agentFiles }: FailedCall): string {
  if (isCode(error, 'tool_not_allowed')) {
    return failure(undefined, {
      error: 'This client may not hand over files here',
      error_type: 'permission',
      instruction: 'Ask the operator for access to the root that holds the files of clients.',
    });
  }
  const { message, errorType, instruction } = BridgeError.from(error);
  return failure(agentFiles?.(), { error: message, error_type: errorType, instruction });
}

/** Formats arguments that do not match a tool's schema as one Result with the error type `validation`. */
export function formatProblems(problems: readonly ArgumentProblem[], { tool, agentFiles }: FailedCall): string {
  return failure(agentFiles?.(), {
    error: problems.map(({ message }) => message).join('; '),
    error_type: 'validation',
    instruction: `Correct ${named(problems)} and call ${tool.name} again. Nothing was stored.`,
  });
}

function named(problems: readonly ArgumentProblem[]): string {
  const names = new Set(problems.map(({ argument }) => argument).filter((argument) => argument !== ''));
  return names.size === 0 ? 'the arguments' : [...names].slice(0, 10).join(', ').slice(0, 500);
}
