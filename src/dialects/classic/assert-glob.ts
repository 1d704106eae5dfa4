import { compileGlob } from '../../search/index.ts';
import { isCode, ToolError } from '../../tools/errors.ts';

/**
 * No time limit for a search: the contract wants `request_timeout` to fail the call instead of returning partial
 * results.
 */
export const UNTIMED = Number.POSITIVE_INFINITY;

/** Raises `invalid_argument`, which names the parameter, for a glob that cannot be compiled. */
export function assertGlob(glob: string, argument: string): void {
  try {
    compileGlob(glob);
  } catch (error) {
    if (!isCode(error, 'invalid_pattern')) throw error;
    const problem = `${argument} is not a usable glob: ${error.details.problem}`;
    throw new ToolError('invalid_argument', { argument, problem });
  }
}
