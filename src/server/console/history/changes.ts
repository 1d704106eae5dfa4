import { setImmediate as nextTurn } from 'node:timers/promises';
import { checkpoints } from '../../../history/index.ts';
import { contentDiff, differences, netChanges, sortForReview } from '../../../review/index.ts';
import { applyUndo, type PastChange, pastChanges, planUndo, selectChanges } from '../../../undo/index.ts';
import type { Change, Checkpoint } from '../model/api-types.ts';
import { Refusal } from '../web/replies.ts';
import { fileDiffs, type ShownDiffs } from './file-diffs.ts';
import { conflictRefusal, isDenied, orRefuse, type ServedHistory } from './served-history.ts';

/** How many paths of a change are listed. */
const MAX_PATHS = 5;
/** After how many changes other calls get their turns. */
const CHANGES_PER_TURN = 100;

/** Some changes, newest first. */
export interface ChangePage {
  readonly changes: readonly Change[];
  readonly checkpoints: readonly Checkpoint[];
  readonly more: boolean;
}

/** Lists changes, newest first: those before one, or the latest. */
export async function listChanges(
  { root, history }: ServedHistory,
  { limit, before }: { readonly limit: number; readonly before: string | undefined },
): Promise<ChangePage> {
  const changes: Change[] = [];
  let [isBefore, more, looked] = [before === undefined, false, 0];
  for (const change of pastChanges(history)) {
    looked += 1;
    if (looked % CHANGES_PER_TURN === 0) await nextTurn();
    if (!isBefore) {
      isBefore = change.id === before;
      continue;
    }
    const shown = shownChange(change, (path) => !isDenied(root, path));
    if (shown === undefined) continue;
    more = changes.length === limit;
    if (more) break;
    changes.push(shown);
  }
  return { changes, checkpoints: checkpoints(history).map(({ name, time }) => ({ name, time })), more };
}

/** Returns what a change did. Raises `Refusal`. */
export async function showChange({ root, history }: ServedHistory, id: string): Promise<ShownDiffs> {
  const found = findChange(history, id);
  const entries = differences(history, [found], undefined).map((diff) => ({ diff, content: () => contentDiff(diff) }));
  return fileDiffs(root, sortForReview(entries));
}

/** Takes a change back, and returns the id of the change that this is. Raises `Refusal`. */
export async function undoChange(
  { root, history, caller, durable }: ServedHistory,
  { id, force }: { readonly id: string; readonly force: boolean },
): Promise<{ readonly change: string }> {
  const found = findChange(history, id);
  return orRefuse(async () => {
    const plan = planUndo(history, root, netChanges([found]), { force });
    if (plan.conflicts.length > 0 && !force) throw conflictRefusal(plan.conflicts);
    const { change } = await applyUndo(plan, { caller, durable });
    if (change !== undefined) return { change };
    if (plan.conflicts.length > 0) throw conflictRefusal(plan.conflicts);
    throw new Refusal(409, 'there is nothing left of this change to take back');
  });
}

function findChange(history: ServedHistory['history'], id: string): PastChange {
  const [found] = selectChanges(history, { ids: [id] });
  if (found === undefined) throw new Refusal(404, 'this change is no longer in the history');
  return found;
}

function shownChange(change: PastChange, isVisible: (path: string) => boolean): Change | undefined {
  const { id, time, caller, steps, undone } = change;
  const paths = new Set(steps.map(({ step }) => step.to ?? step.path).filter(isVisible));
  if (paths.size === 0) return undefined;
  return {
    id,
    time,
    client: caller.client ?? null,
    tool: caller.tool,
    paths: [...paths].slice(0, MAX_PATHS).map((path) => path.toWellFormed()),
    files: paths.size,
    undone: undone === 'yes',
  };
}
