import type { CallerPath, EntryType, SharedDir, SharedRoot } from '../../fence/index.ts';
import type { SharedPart } from '../../files/list/stat-batch.ts';
import type { Failure } from '../../runtime/worker-error.ts';
import type { LinePatternOptions } from '../file/line-pattern.ts';
import type { MatchLimits } from '../file/match-list.ts';
import type { Packed } from '../task/work-unit.ts';

interface Scope {
  readonly root: SharedRoot;
  readonly path: CallerPath;
  readonly maxDepth: number | undefined;
  readonly skipHidden: boolean;
}

/** A search for lines. Finds `FoundLines`. */
export interface LineSpec extends Scope, LinePatternOptions, MatchLimits {
  readonly kind: 'lines';
  readonly globFilter: string | undefined;
  readonly contextLines: number;
  /** Larger files are left out. */
  readonly maxFileSize: number | undefined;
}

/** A search for entries by their path. Finds `FoundEntries`. */
export interface EntrySpec extends Scope {
  readonly kind: 'entries';
  /** Either this or `regex`. */
  readonly glob: string | undefined;
  readonly regex: string | undefined;
  readonly types: readonly EntryType[];
  readonly maxResults: number;
}

export type SearchSpec = LineSpec | EntrySpec;

/** Stretches to search. The answer is what they turned into, some perhaps still themselves once the budget was spent. */
export interface Task {
  readonly stretches: Packed<never>;
  readonly budget: number;
}

export type Answer = Packed<unknown>;

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

export type Request =
  | SearchRequest
  /** Entries of a folder to look at, unless somebody else does it first. Nothing is answered but in the memory of the part. */
  | { readonly type: 'look'; readonly root: SharedRoot; readonly dir: SharedDir; readonly part: SharedPart }
  /** Makes a root known that will be asked about. */
  | { readonly type: 'know'; readonly root: SharedRoot };

export type Reply =
  /** Said once, when the first search can begin. */
  'ready' | { readonly id: number; readonly answer: Answer } | { readonly id: number; readonly failure: Failure };
