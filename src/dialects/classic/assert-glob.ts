import { compileGlob } from '../../search/pattern/glob-pattern.ts';
import { isCode, ToolError } from '../../tools/errors.ts';

/** Searches end with the request's own time limit, which makes an error of them rather than a partial answer. */
export const UNTIMED = Number.POSITIVE_INFINITY;

/** Refuses a glob that cannot be used, with the name of the parameter it came by. */
export function assertGlob(glob: string, argument: string): void {
  try {
    compileGlob(glob);
  } catch (error) {
    if (!isCode(error, 'invalid_pattern')) throw error;
    const problem = `${argument} is not a usable glob: ${error.details.problem}`;
    throw new ToolError('invalid_argument', { argument, problem });
  }
}
