import type { Root } from '../../fence/index.ts';
import type { EntryState, History, Step } from '../../history/index.ts';
import type { Conflict } from './conflict.ts';

/**
 * What an action does: `restore` brings back what was removed, `revert` what was replaced, `make` an empty folder;
 * `remove` takes away what was made; `cut` and `extend` change a file in place.
 */
export type UndoEffect = 'restore' | 'revert' | 'make' | 'remove' | 'move' | 'cut' | 'extend';

/** One action of an undo. */
export interface UndoAction {
  readonly effect: UndoEffect;
  /** The step that it takes back. */
  readonly undoes: Step;
  /** Whether the step is taken back with this action, and not only in part. */
  readonly completes: boolean;
  /** Which entry it changes, from the top of the root. */
  readonly path: string;
  /** Where a `move` goes. */
  readonly to?: string | undefined;
  /** What is at `path` before and after the action; for a `move`, what is moved. */
  readonly before: EntryState | undefined;
  readonly after: EntryState | undefined;
  /** Whether newer work is replaced, removed or moved along by force. It is kept. */
  readonly forced: boolean;
  /** The kept place that it takes from. */
  readonly from?: string | undefined;
  /** The kept place for what it replaces or removes. */
  readonly keep?: string | undefined;
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
