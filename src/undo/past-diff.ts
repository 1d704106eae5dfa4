import type { History } from '../history/index.ts';
import type { PastChange } from './past-change.ts';
import type { PastEntry } from './past-node.ts';

/** What changes did to one path. Folders are in it only if they are made, removed or moved. */
export interface PathDiff {
  readonly path: string;
  /** Where the entry was before, if it was moved and is otherwise the same. */
  readonly movedFrom: string | undefined;
  /** Undefined if there was nothing before, or is nothing after. */
  readonly before: PastEntry | undefined;
  readonly after: PastEntry | undefined;
}

/**
 * Compares how a root was before the oldest of some changes with how it was after the newest, at all paths that they
 * touched: what they did together. Removed and added folders come with everything below them. Sorted by path.
 */
export function diffOfChanges(
  _history: History,
  _changes: readonly PastChange[],
  _options: { readonly path?: string | undefined } = {},
): PathDiff[] {
  throw new Error('not written yet');
}

/**
 * Returns the hunks of the unified diff of two contents, without the lines with file names. Undefined if one of them is
 * not text.
 */
export function textDiff(_before: Buffer | undefined, _after: Buffer | undefined): string | undefined {
  throw new Error('not written yet');
}
