import type { Root } from '../fence/index.ts';
import { type CancelMark, type History, isAbout } from '../history/index.ts';
import type { PastChange } from './past-change.ts';
import type { UndoPlan } from './plan/undo-plan.ts';
import { UndoPlanner } from './plan/undo-planner.ts';
import { settledSteps } from './settle.ts';

/** How to take changes back. */
export interface UndoOptions {
  /** Only what is at this path or below it. */
  readonly path?: string | undefined;
  /** Whether newer work may be replaced, which is kept, and steps be left out that cannot be taken back. */
  readonly force?: boolean | undefined;
}

/**
 * Plans to take changes back, newest first, whatever the order in which they are given. Steps that are undone already
 * stay so. All of it is tried on a copy of the tree in memory, so that every conflict is found before anything is done.
 */
export function planUndo(
  history: History,
  root: Root,
  changes: readonly PastChange[],
  { path, force = false }: UndoOptions = {},
): UndoPlan {
  const left = new Set(changes.flatMap(({ steps }) => steps.map(({ key }) => key)));
  const undone = new Set<string>();
  const planner = new UndoPlanner(history, root);
  if (left.size > 0) {
    const onCancelled = (mark: CancelMark): void => planner.kept.addCancelled(mark);
    for (const past of settledSteps(history, { onCancelled })) {
      const isSelected = left.delete(past.key) && (path === undefined || isAbout(past.step, path));
      const isUndone = undone.delete(past.key);
      if (isUndone) planner.passUndone(past);
      if (past.happened && !isUndone) {
        if (isSelected) planner.undo(past);
        else {
          if (past.step.undoes !== undefined) undone.add(past.step.undoes);
          planner.pass(past);
        }
      }
      if (past.happened) planner.kept.add(past);
      if (left.size === 0) break;
    }
  }
  const { actions, conflicts } = planner;
  return { history, root, actions, conflicts, force };
}
