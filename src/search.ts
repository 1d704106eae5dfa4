/**
 * `ringfence/search`: grep, glob and walk over the folders that `ringfence/fence` opens, on worker threads. Loads neither the
 * protocol nor its schemas.
 */
export { type ErrorLocation, RingfenceError } from './errors.ts';
export { CancelledError, type OperationContext } from './runtime/operation-context.ts';
export type { LineMatch } from './search/file/match-list.ts';
export {
  type GlobMatch,
  type GlobOptions,
  type GlobResult,
  type GlobScope,
  glob,
  type PathQuery,
} from './search/glob.ts';
export { type GrepOptions, type GrepResult, grep } from './search/grep.ts';
export {
  isSearchError,
  SearchError,
  type SearchErrorCode,
  type SearchErrorDetails,
} from './search/pattern/search-error.ts';
export { SearchPool } from './search/pool/search-pool.ts';
export { type WalkedEntry, type WalkOptions, walk } from './search/walk/walk.ts';
