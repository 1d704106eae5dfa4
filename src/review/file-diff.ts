import { looksBinary } from '../files/encoding.ts';
import type { History } from '../history/index.ts';
import { diffOfChanges, type PastChange, type PastEntry, type PathDiff } from '../undo/index.ts';
import { type Hunk, hunksOf, type TextPair } from './hunks.ts';
import { splitLines } from './lines.ts';

/** The largest file whose lines are compared. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;

/** What happened to an entry. */
export type DiffKind = 'removed' | 'changed' | 'moved' | 'added';

/** Deletions come first, so that nobody overlooks them. */
const ORDER: readonly DiffKind[] = ['removed', 'changed', 'moved', 'added'];

/** How the content of an entry differs: by hunks of lines, or in a way that cannot be shown. */
export type ContentDiff =
  | { readonly shown: 'hunks'; readonly texts: TextPair; readonly hunks: readonly Hunk[] }
  /** For files that are not text, or too large to compare. */
  | { readonly shown: 'sizes'; readonly why: 'binary' | 'large' }
  /** What was there is no longer kept, or cannot be read. */
  | { readonly shown: 'sizes'; readonly why: 'lost' }
  /** The contents are the same, or it has none. */
  | { readonly shown: 'nothing' };

/** Returns what happened to an entry. */
export function kindOf({ before, after, movedFrom }: PathDiff): DiffKind {
  if (after === undefined) return 'removed';
  if (movedFrom !== undefined) return 'moved';
  return before === undefined ? 'added' : 'changed';
}

/**
 * Compares how a root was before and after some changes, at a path and below it. Leaves out files that have the same
 * content and mode again.
 */
export function differences(history: History, changes: readonly PastChange[], path: string | undefined): PathDiff[] {
  if (changes.length === 0) return [];
  return diffOfChanges(history, changes, { path }).filter((diff) => {
    const { before, after, movedFrom } = diff;
    if (before === undefined || after === undefined || movedFrom !== undefined) return true;
    if (before.type !== after.type || before.mode !== after.mode || before.size !== after.size) return true;
    return contentDiff(diff).shown !== 'nothing';
  });
}

/** Sorts what happened for people: deletions first, then by path. */
export function sortForReview<T extends { readonly diff: PathDiff }>(entries: readonly T[]): T[] {
  const rank = ({ diff }: T): number => ORDER.indexOf(kindOf(diff));
  const byPath = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  return [...entries].sort((a, b) => rank(a) - rank(b) || byPath(a.diff.path, b.diff.path));
}

/** Compares the contents of an entry, line by line if both are text. Where a link leads is its content. */
export function contentDiff({ before, after }: Pick<PathDiff, 'before' | 'after'>): ContentDiff {
  if ([before, after].every((entry) => entry === undefined || entry.type === 'directory')) return { shown: 'nothing' };
  if ([before, after].some((entry) => (entry?.size ?? 0) > MAX_TEXT_BYTES)) return { shown: 'sizes', why: 'large' };
  const [old, young] = [contentOf(before), contentOf(after)];
  if (old === undefined || young === undefined) return { shown: 'sizes', why: 'lost' };
  if (old.equals(young)) return { shown: 'nothing' };
  if (looksBinary(old) || looksBinary(young)) return { shown: 'sizes', why: 'binary' };
  const texts = { before: splitLines(old), after: splitLines(young) };
  return { shown: 'hunks', texts, hunks: hunksOf(texts) };
}

/** Returns the content of an entry, empty if there is none; undefined if it cannot be read. */
function contentOf(entry: PastEntry | undefined): Buffer | undefined {
  try {
    if (entry?.type === 'file') return entry.read();
    if (entry?.type === 'symlink') return Buffer.from(entry.target());
    return Buffer.alloc(0);
  } catch {
    return undefined;
  }
}
