import type { CallError, ErrorCode } from './errors.ts';

/** An answer for each code, from the error and what else it takes. A new code breaks the build until every map has it. */
export type ErrorMap<Context extends readonly unknown[], Answer> = {
  readonly [C in ErrorCode]: (error: CallError<C>, ...context: Context) => Answer;
};

/** What a map answers to an error. */
export function mapError<Context extends readonly unknown[], Answer>(
  map: ErrorMap<Context, Answer>,
  error: CallError,
  ...context: Context
): Answer {
  // The entry under a code takes errors of that code, which the compiler cannot follow through an index.
  const answer = map[error.code] as (error: CallError, ...context: Context) => Answer;
  return answer(error, ...context);
}
