import type { Conflict, ConflictReason } from '../undo/index.ts';

/** What is said about a path that cannot be taken back. */
export const CONFLICT_WORDS: Readonly<Record<ConflictReason, string>> = {
  changed_since: 'was changed since',
  missing: 'is no longer there',
  in_the_way: 'is taken by something newer',
  no_folder: 'has no folder to go back to',
  not_empty: 'is a folder with newer entries',
  not_kept: 'was too large to be kept, so it cannot be brought back',
  kept_is_gone: 'is no longer in the history, so it cannot be brought back',
  kept_was_changed: 'was changed by another program after it was kept',
  not_allowed: 'may not be changed',
};

/** Conflicts that force does not help with. */
const FINAL: readonly ConflictReason[] = ['not_kept', 'kept_is_gone', 'not_allowed'];

/** Reports whether a conflict stays although newer work may be replaced. */
export function isFinal({ reason }: Conflict): boolean {
  return FINAL.includes(reason);
}
