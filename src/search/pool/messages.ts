import type { CallerPath, EntryType, SharedDir, SharedRoot } from '../../fence/index.ts';
import type { SharedStatBatch } from '../../files/list/stat-batch.ts';
import type { WorkerError } from '../../runtime/worker-error.ts';
import type { LinePatternOptions } from '../file/line-pattern.ts';
import type { MatchLimits } from '../file/match-list.ts';
import type { PackedResults } from '../task/work-unit.ts';

interface SearchScope {
  readonly root: SharedRoot;
  readonly path: CallerPath;
  readonly maxDepth: number | undefined;
  readonly skipHidden: boolean;
}

/** A search for lines. Finds `FoundLines`. */
export interface GrepSpec extends SearchScope, LinePatternOptions, MatchLimits {
  readonly kind: 'lines';
  readonly globFilter: string | undefined;
  readonly contextLines: number;
  /** Larger files are left out. */
  readonly maxFileSize: number | undefined;
}

/** A search for entries by their path. Finds `FoundEntries`. */
export interface GlobSpec extends SearchScope {
  readonly kind: 'entries';
  /** Either this or `regex`. */
  readonly glob: string | undefined;
  readonly regex: string | undefined;
  readonly types: readonly EntryType[];
  readonly maxResults: number;
}

export type SearchSpec = GrepSpec | GlobSpec;

/** Stretches to search. The answer is what they turned into, some perhaps still themselves once the budget was spent. */
export interface Task {
  readonly units: PackedResults<never>;
  readonly budget: number;
}

export type TaskResult = PackedResults<unknown>;

export type SearchRequest =
  | {
      readonly type: 'begin';
      readonly search: number;
      readonly spec: SearchSpec;
      readonly stop: SharedArrayBuffer;
      readonly call: SharedArrayBuffer;
    }
  | { readonly type: 'task'; readonly search: number; readonly id: number; readonly task: Task }
  | { readonly type: 'end'; readonly search: number };

export type WorkerRequest =
  | SearchRequest
  /** Entries of a folder to look at, unless somebody else does it first. Nothing is answered but in the memory of the part. */
  | { readonly type: 'look'; readonly root: SharedRoot; readonly dir: SharedDir; readonly part: SharedStatBatch }
  /** Makes a root known that will be asked about. */
  | { readonly type: 'know'; readonly root: SharedRoot };

export type WorkerReply =
  /** Said once, when the first search can begin. */
  | 'ready'
  | { readonly id: number; readonly answer: TaskResult }
  | { readonly id: number; readonly failure: WorkerError };
