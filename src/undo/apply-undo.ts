import type { Change } from '../history/index.ts';
import { type Caller, DEFAULT_CONTEXT, type OperationContext, yieldPoint } from '../runtime/operation-context.ts';
import { UndoError } from './errors.ts';
import { selectChanges } from './past-change.ts';
import type { UndoPlan } from './plan/undo-plan.ts';
import { planUndo } from './plan-undo.ts';
import { type RunOptions, UndoRun } from './undo-run.ts';

/** How to carry out an undo. */
export interface ApplyOptions {
  /** Who asks for it. */
  readonly caller: Caller;
  /** The change that it is recorded as; by default a new one. */
  readonly change?: Change | undefined;
  /** Flush to disk before returning. True by default. */
  readonly durable?: boolean;
  /** The scheduler that is shared with what else is running. */
  readonly scheduler?: OperationContext['scheduler'];
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
 * if something was changed since it was made, and what changing files raises; then everything is as before. Raises
 * `undo_incomplete` if it failed in its middle and not all of it could be taken back.
 */
export async function applyUndo(plan: UndoPlan, options: ApplyOptions): Promise<AppliedUndo> {
  const { history, root, actions, conflicts, force } = plan;
  const { caller, durable = true, scheduler } = options;
  if (conflicts.length > 0 && !force) throw new UndoError('undo_conflict', { conflicts }, { root: root.name });
  if (actions.length === 0) return { change: undefined, undone: 0 };
  const { change = history.changeOf({ ...caller }) } = options;
  const running = { durable, pause: yieldPoint({ signal: DEFAULT_CONTEXT.signal, scheduler }) };
  try {
    await new UndoRun(plan, change, running).run();
  } catch (error) {
    await takeBack(plan, change, { caller, running, error });
    throw error;
  }
  return { change: change.id, undone: actions.filter(({ completes }) => completes).length };
}

/** Takes back what a failed undo has done, as far as that is possible. Raises `undo_incomplete` if not all of it is. */
async function takeBack(
  { history, root }: UndoPlan,
  failed: Change,
  { caller, running, error }: { caller: Caller; running: RunOptions; error: unknown },
): Promise<void> {
  const { conflicts, actions, ...plan } = planUndo(history, root, selectChanges(history, { ids: [failed.id] }));
  const possible = { ...plan, conflicts, actions: actions.filter(({ forced }) => !forced) };
  const run = new UndoRun(possible, history.changeOf({ ...caller }), running);
  try {
    await run.run();
  } catch {
    // What is left says so.
  }
  const paths = new Set([...conflicts, ...run.left].map(({ path }) => path));
  const location = { root: root.name, cause: error };
  if (paths.size > 0) throw new UndoError('undo_incomplete', { change: failed.id, paths: [...paths].sort() }, location);
}
