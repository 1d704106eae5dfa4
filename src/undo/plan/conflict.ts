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
