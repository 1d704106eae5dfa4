import type { Root } from '../fence/index.ts';
import type { EntryState, History, Step } from '../history/index.ts';
import type { PastChange } from './past-change.ts';

/** Why a step cannot be taken back as it is. */
export type ConflictReason =
  /** The entry at `path` is not as the step left it. */
  | 'changed_since'
  /** There is nothing at `path` any more. */
  | 'missing'
  /** Something is where the entry has to go back to. */
  | 'in_the_way'
  /** The folder that the entry has to go back to is not there. */
  | 'no_folder'
  /** The folder that the step made has entries by now. */
  | 'not_empty'
  /** What the step replaced was too large to be kept. Cannot be forced. */
  | 'not_kept'
  /** What the step replaced is no longer in the history. Cannot be forced. */
  | 'kept_is_gone'
  /** What the step replaced was changed by another program since, through a hard link or while it had it open. */
  | 'kept_was_changed'
  /** The rules of the root forbid it to this caller. Cannot be forced. */
  | 'not_allowed';

/** A step that cannot be taken back without losing or hiding newer work. */
export interface Conflict {
  readonly reason: ConflictReason;
  /** From the top of the root. */
  readonly path: string;
  /** The id of the change that would be taken back. */
  readonly change: string;
  /** The id of the newer change that is in conflict; undefined if another program changed the entry. */
  readonly newer: string | undefined;
}

/** What happens to the tree, for people: `restore` brings back what was removed, `revert` what was replaced. */
export type UndoEffect = 'restore' | 'revert' | 'remove' | 'move' | 'cut' | 'extend';

/** One action of an undo. */
export interface UndoAction {
  /** The step that it takes back. */
  readonly undoes: Step;
  readonly effect: UndoEffect;
  /** Which entry it changes, from the top of the root. */
  readonly path: string;
  /** Where a `move` goes. */
  readonly to: string | undefined;
  /** What is at `path` before and after the action. */
  readonly before: EntryState | undefined;
  readonly after: EntryState | undefined;
  /** Whether newer work is replaced or removed by force. It is kept. */
  readonly forced: boolean;
}

/** How to take changes back. */
export interface UndoOptions {
  /** Only what is at this path or below it. */
  readonly path?: string | undefined;
  /** Whether newer work may be replaced, which is kept, and steps be left out that cannot be taken back. */
  readonly force?: boolean | undefined;
}

/** What taking changes back would do. Nothing has been done yet. */
export interface UndoPlan {
  readonly history: History;
  /** The root that is acted on, with its rules or without. */
  readonly root: Root;
  /** In the order in which they are done. */
  readonly actions: readonly UndoAction[];
  /** Without `force`, one of them refuses the whole plan. With it, what is done regardless, or left out. */
  readonly conflicts: readonly Conflict[];
  readonly force: boolean;
}

/** Plans to take changes back, newest first, whatever the order in which they are given. Steps that are undone stay so. */
export function planUndo(
  _history: History,
  _root: Root,
  _changes: readonly PastChange[],
  _options: UndoOptions = {},
): UndoPlan {
  throw new Error('not written yet');
}
