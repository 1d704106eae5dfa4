import { codeGuard, RingfenceError } from '../../errors.ts';

/** The details that each code of a `SearchError` carries. */
export type SearchErrorDetails = {
  /** The regular expression or glob cannot be compiled. */
  invalid_pattern: { readonly problem: string };
  /** A single match with its context exceeds the size limit of a whole result. */
  result_too_large: { readonly size: number; readonly limit: number };
  /** A worker thread ended before it answered. */
  internal: object;
};

/** The codes of a `SearchError`. */
export type SearchErrorCode = keyof SearchErrorDetails;

/** An error of a search: a pattern or result it refuses, or a crashed worker. */
export class SearchError<C extends SearchErrorCode = SearchErrorCode> extends RingfenceError<SearchErrorDetails, C> {}

/** Reports whether an error is a `RingfenceError` with one of these codes, of whatever class. */
export const isSearchError = codeGuard<SearchErrorDetails>();
