import type { CallError, ErrorCode } from './errors.ts';

/** A function for every error code. A new code breaks the build until every map handles it. */
export type ErrorMap<Context extends readonly unknown[], Result> = {
  readonly [C in ErrorCode]: (error: CallError<C>, ...context: Context) => Result;
};

/** Calls the map's function for the code of an error. */
export function mapError<Context extends readonly unknown[], Result>(
  map: ErrorMap<Context, Result>,
  error: CallError,
  ...context: Context
): Result {
  // The function for a code takes errors of that code. TypeScript cannot correlate the two through an index.
  const handle = map[error.code] as (error: CallError, ...context: Context) => Result;
  return handle(error, ...context);
}
