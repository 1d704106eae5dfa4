/**
 * `ringfence/search`: grep, glob and walk over the folders that `ringfence/fence` opens. grep and glob run on worker
 * threads, walk on the calling thread. Loads neither the MCP protocol nor its schemas.
 */
export { type CodeGuard, type ErrorLocation, RingfenceError } from './errors.ts';
export type {
  Backend,
  BackendName,
  CallerPath,
  CheckedTree,
  Dir,
  Entry,
  EntryType,
  GuardRules,
  HeldEntry,
  HostPath,
  Location,
  MadeFolder,
  Name,
  OpenFile,
  ReadableFile,
  Refusal,
  ResolveOptions,
  Root,
  StatLite,
} from './fence/index.ts';
export type { FairScheduler } from './runtime/fair-scheduler.ts';
export { type Caller, CancelledError, type OperationContext } from './runtime/operation-context.ts';
export {
  type FileCount,
  type GlobMatch,
  type GlobOptions,
  type GlobResult,
  type GlobScope,
  type GrepOptions,
  type GrepOutput,
  type GrepResult,
  glob,
  grep,
  isSearchError,
  type LineMatch,
  type PathQuery,
  SearchError,
  type SearchErrorCode,
  type SearchErrorDetails,
  SearchPool,
  type WalkedEntry,
  type WalkOptions,
  walk,
} from './search/index.ts';
