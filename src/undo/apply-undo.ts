import type { Caller } from '../runtime/operation-context.ts';
import type { UndoPlan } from './plan-undo.ts';

/** How to carry out an undo. */
export interface ApplyOptions {
  /** Who asks for it. */
  readonly caller: Caller;
  /** Flush to disk before returning. True by default. */
  readonly durable?: boolean;
}

/** What an undo has done. */
export interface AppliedUndo {
  /** The id of the undo itself, which can be taken back, too. Undefined if there was nothing to do. */
  readonly change: string | undefined;
  /** How many steps were taken back. */
  readonly undone: number;
}

/**
 * Carries out a plan as one change of the history. Raises `undo_conflict` if the plan has conflicts and is not forced, or
 * if something was changed since it was made; then everything is as before. Raises `undo_incomplete` if it failed in its
 * middle and not all of it could be taken back.
 */
export async function applyUndo(_plan: UndoPlan, _options: ApplyOptions): Promise<AppliedUndo> {
  throw new Error('not written yet');
}
