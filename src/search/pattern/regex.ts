import { createContext, Script } from 'node:vm';
import { RE2JS, RE2JSException } from 're2js';
import { regexSize } from './regex-size.ts';
import { SearchError } from './search-error.ts';
import { withShortNames } from './unicode-names.ts';

/** Estimating the size takes time that grows with the length. */
const MAX_LENGTH = 64 * 1024;
/**
 * Maximum size as `regexSize` estimates it, unless the text itself is as long: a program of 20,000 instructions takes 7
 * MB with the states of its DFA. Compiling takes at most about a tenth of a second.
 */
const MAX_SIZE = 20_000;
/** A smaller pattern compiles within milliseconds. */
const SMALL = 1_000;
/** Maximum number of characters of a problem: the parser quotes the part of the pattern that it refuses. */
const MAX_PROBLEM = 400;
/** Limit on the time to compile a pattern that takes much longer than its size says. */
const MAX_MS = 1_000;

/**
 * Compiles a regular expression in RE2 syntax. Raises `invalid_pattern`, also for patterns over 64 Ki characters and
 * for those that are too large to compile within a moment.
 */
export function compileRegex(pattern: string, caseInsensitive = false): RE2JS {
  if (pattern.length > MAX_LENGTH) throw invalid(`pattern is longer than ${MAX_LENGTH} characters`);
  const size = Math.ceil(regexSize(pattern, caseInsensitive));
  const limit = Math.max(MAX_SIZE, pattern.length);
  if (size > limit) throw invalid(`pattern too large: it compiles to about ${size} instructions, more than ${limit}`);
  if (size <= SMALL) return compile(pattern, caseInsensitive);
  let regex: RE2JS | undefined;
  const hasCompiled = finishesWithin(MAX_MS, () => {
    regex = compile(pattern, caseInsensitive);
  });
  if (!hasCompiled || regex === undefined) throw invalid('pattern too large: it takes too long to compile');
  return regex;
}

function compile(pattern: string, caseInsensitive: boolean): RE2JS {
  const flags = caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0;
  try {
    return RE2JS.compile(pattern, flags);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const renamed = withShortNames(pattern);
    if (renamed !== pattern && isValid(renamed)) return RE2JS.compile(renamed, flags);
    // With the flag set, the parser's message would show `(?i)` as part of the pattern; without it, the message shows
    // the pattern as given.
    if (caseInsensitive) return compile(pattern, false);
    throw invalid(error instanceof RangeError ? 'pattern too large: it nests too deeply' : error.message, error);
  }
}

function isValid(pattern: string): boolean {
  try {
    RE2JS.compile(pattern);
    return true;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return false;
  }
}

/** Whether the compiler refuses a pattern. A `RangeError` means that its recursion was too deep for the stack. */
function isRefusal(error: unknown): error is RE2JSException | RangeError {
  return error instanceof RE2JSException || error instanceof RangeError;
}

function invalid(problem: string, cause?: unknown): SearchError {
  const shown = problem.length <= MAX_PROBLEM ? problem : `${problem.slice(0, MAX_PROBLEM)}…`;
  return new SearchError('invalid_pattern', { problem: shown }, { cause });
}

const SCRIPT = new Script('run()');

/**
 * Runs a function, and interrupts it when the time is over, wherever it is. Returns whether it has finished; what it
 * raises is passed on. The function must not hold anything that it has to give back, since an interrupted one runs no
 * `finally`.
 *
 * It is a watchdog of Node (https://nodejs.org/api/vm.html#scriptrunincontextcontextifiedobject-options), which takes
 * about a millisecond to set up.
 */
export function finishesWithin(ms: number, run: () => void): boolean {
  try {
    SCRIPT.runInContext(createContext({ run }), { timeout: ms });
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    return false;
  }
}
