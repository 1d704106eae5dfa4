export type { FileCount, GrepOutput, LineMatch } from './file/match-list.ts';
export { type GlobMatch, type GlobOptions, type GlobResult, type GlobScope, glob, type PathQuery } from './glob.ts';
export { type GrepOptions, type GrepResult, grep } from './grep.ts';
export { compileGlob, expandedLength } from './pattern/glob-pattern.ts';
export {
  isSearchError,
  SearchError,
  type SearchErrorCode,
  type SearchErrorDetails,
} from './pattern/search-error.ts';
export { SearchPool } from './pool/search-pool.ts';
export { type WalkedEntry, type WalkOptions, walk } from './walk/walk.ts';
