import { type ErrorCode, type ErrorDetails, RingfenceError } from '../../errors.ts';
import type { CallerPath, EntryType, SharedRoot } from '../../fence/index.ts';
import type { FileBatch } from './file-batch.ts';
import type { LinePatternOptions } from './line-pattern.ts';
import type { LineMatch, MatchLimits } from './match-list.ts';

interface Scope {
  readonly root: SharedRoot;
  readonly path: CallerPath;
  readonly maxDepth: number | undefined;
  readonly skipHidden: boolean;
}

/** A search for lines. */
export interface LineSpec extends Scope, LinePatternOptions, MatchLimits {
  readonly kind: 'lines';
  readonly globFilter: string | undefined;
  readonly contextLines: number;
  /** Larger files are left out. */
  readonly maxFileSize: number | undefined;
}

/** A search for entries by their path. */
export interface EntrySpec extends Scope {
  readonly kind: 'entries';
  /** Either this or `regex`. */
  readonly glob: string | undefined;
  readonly regex: string | undefined;
  readonly types: readonly EntryType[];
}

export type SearchSpec = LineSpec | EntrySpec;

export interface FoundEntry {
  /** Relative to the root. */
  readonly path: string;
  readonly type: EntryType;
  readonly size: number;
  readonly modified: Date;
}

/** A piece of work, small or able to pause. What it answers stands under the same name in `Answers`. */
export type Task =
  | { readonly type: 'listFiles'; readonly batches: number }
  | { readonly type: 'listEntries'; readonly entries: number }
  | { readonly type: 'searchFiles'; readonly batch: FileBatch };

/** `skipped` counts the folders that could not be read so far. `done` is false if the search was stopped before. */
export interface Answers {
  listFiles: { batches: FileBatch[]; done: boolean; skipped: number };
  listEntries: { entries: FoundEntry[]; done: boolean; skipped: number };
  searchFiles: BatchResult;
}

export interface BatchResult {
  readonly matches: readonly LineMatch[];
  readonly text: number;
  readonly searched: number;
  readonly matched: number;
  readonly skipped: number;
  /** False if the search was stopped before the batch was through: what follows the last match was not looked at. */
  readonly complete: boolean;
}

export type Request =
  | { readonly type: 'begin'; readonly search: number; readonly spec: SearchSpec; readonly stop: SharedArrayBuffer }
  | { readonly type: 'task'; readonly search: number; readonly id: number; readonly task: Task }
  | { readonly type: 'end'; readonly search: number };

export type Reply =
  | { readonly id: number; readonly answer: Answers[keyof Answers] }
  | { readonly id: number; readonly failure: Failure };

/** An error on its way to another thread. */
export interface Failure {
  readonly code: ErrorCode;
  readonly details: ErrorDetails[ErrorCode];
  readonly cause: string;
}

export function toFailure(error: unknown): Failure {
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (error instanceof RingfenceError) return { code: error.code, details: error.details, cause };
  return { code: 'internal', details: {}, cause };
}

export function fromFailure({ code, details, cause }: Failure): RingfenceError {
  return new RingfenceError(code, details, { cause: new Error(cause) });
}
