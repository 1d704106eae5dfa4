import type { CallerPath, EntryType, SharedRoot } from '../../fence/index.ts';
import type { LinePatternOptions } from '../file/line-pattern.ts';
import type { MatchLimits } from '../file/match-list.ts';

/** What a search returns at most, and how long it takes at most, unless its caller says otherwise. */
export const DEFAULT_MAX_RESULTS = 1_000;
export const DEFAULT_TIMEOUT_SECONDS = 30;

interface SearchScope {
  readonly root: SharedRoot;
  readonly path: CallerPath;
  readonly maxDepth: number | undefined;
  readonly skipHidden: boolean;
}

/** A search for lines. Its results are `LineResults`. */
export interface GrepSpec extends SearchScope, LinePatternOptions, MatchLimits {
  readonly kind: 'lines';
  readonly globFilter: string | undefined;
  readonly contextLines: number;
  /** Larger files are left out. */
  readonly maxFileSize: number | undefined;
}

/** A search for entries by their path. Its results are `EntryResults`. */
export interface GlobSpec extends SearchScope {
  readonly kind: 'entries';
  /** Either this or `regex`. */
  readonly glob: string | undefined;
  readonly regex: string | undefined;
  readonly types: readonly EntryType[];
  readonly maxResults: number;
}

/** What is searched for, in a form that can be sent to a worker. */
export type SearchSpec = GrepSpec | GlobSpec;
