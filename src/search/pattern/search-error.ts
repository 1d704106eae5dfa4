import { codeGuard, RingfenceError } from '../../errors.ts';

/** What each code of a `SearchError` carries. */
export type SearchErrorDetails = {
  /** The regular expression or glob cannot be compiled. */
  invalid_pattern: { readonly problem: string };
  /** A single match with its context is larger than a whole result may be. */
  result_too_large: { readonly size: number; readonly limit: number };
  /** A worker thread ended before it had answered. */
  internal: object;
};

export type SearchErrorCode = keyof SearchErrorDetails;

/** What a search refuses, or why it broke off. */
export class SearchError<C extends SearchErrorCode = SearchErrorCode> extends RingfenceError<SearchErrorDetails, C> {}

export const isSearchError = codeGuard<SearchErrorDetails>();
