import { codeGuard, RingfenceError } from '../errors.ts';
import type { Conflict } from './plan/conflict.ts';

/** The codes of expected failures of an undo, with what else is known about each. */
export type UndoErrorDetails = {
  /** Newer work is in the way. Nothing was done. */
  undo_conflict: { readonly conflicts: readonly Conflict[] };
  /**
   * An undo failed in its middle, for the reason in `cause`. What it had done was taken back, except for these paths,
   * which stay as the undo left them; the change `change` says what was done to them.
   */
  undo_incomplete: { readonly change: string; readonly paths: readonly string[] };
  /** Nothing is known about the path at that time. */
  no_past_entry: object;
};

/** The closed list of codes that an undo raises, besides those of the fence and the history. */
export type UndoErrorCode = keyof UndoErrorDetails;

/** An expected failure of an undo. */
export class UndoError<C extends UndoErrorCode = UndoErrorCode> extends RingfenceError<UndoErrorDetails, C> {}

/** Reports whether an error is a `RingfenceError` with one of these codes. */
export const isUndoError = codeGuard<UndoErrorDetails>();
