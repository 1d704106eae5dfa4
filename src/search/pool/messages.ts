import type { CallerPath, EntryType, SharedRoot } from '../../fence/index.ts';
import type { LinePatternOptions } from '../file/line-pattern.ts';
import type { GrepOutput, MatchLimits } from '../file/match-list.ts';
import type { PackedResults } from './work-unit.ts';

/** Where to search. */
interface SearchScope {
  readonly root: SharedRoot;
  readonly path: CallerPath;
  readonly maxDepth: number | undefined;
  readonly skipHidden: boolean;
  /** Whether to skip what `.gitignore` and `.ignore` files rule out. */
  readonly ignore: boolean;
  /** Globs of files and folders to skip, see `compileExcludes`. */
  readonly exclude: readonly string[];
}

/** A search for lines. Its tasks return `GrepFound`. */
export interface GrepSpec extends SearchScope, LinePatternOptions, MatchLimits {
  readonly kind: 'grep';
  readonly globFilter: string | undefined;
  /** Name of a type of files, see `FILE_TYPES`. */
  readonly type: string | undefined;
  readonly output: GrepOutput;
  readonly contextLines: number;
  /** Files with more bytes are skipped. */
  readonly maxFileSize: number | undefined;
}

/** A search for entries by path. Its tasks return `GlobFound`. */
export interface GlobSpec extends SearchScope {
  readonly kind: 'glob';
  /** Set unless `regex` is. */
  readonly glob: string | undefined;
  readonly regex: string | undefined;
  readonly types: readonly EntryType[];
  readonly maxResults: number;
}

/** Everything a worker needs to know about a search. It can be sent by structured cloning. */
export type SearchSpec = GrepSpec | GlobSpec;

/** A call to a worker: work on these units of a search until the budget is spent. The answer is a `TaskResult`. */
export interface SearchTask {
  /** Number of the search, from its `begin` notice. */
  readonly search: number;
  readonly units: PackedResults<never>;
  readonly budget: number;
  /**
   * Number of matches of these units that the offset of a grep leaves out, at most; undefined if it is not known yet.
   */
  readonly toPass: number | undefined;
}

/**
 * The answer to a `SearchTask`: what its units turned into, in path order. It contains units again if the budget was
 * spent.
 */
export type TaskResult = PackedResults<unknown>;

/** Notices to a worker about the begin and the end of a search. */
export type SearchNotice =
  | {
      readonly type: 'begin';
      readonly search: number;
      /** Searches of one share divide the time that it gets among them. */
      readonly share: string;
      readonly spec: SearchSpec;
      readonly stop: SharedArrayBuffer;
      readonly steal: SharedArrayBuffer;
    }
  | { readonly type: 'end'; readonly search: number };
