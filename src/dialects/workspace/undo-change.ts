import * as z from 'zod';
import { isFenceError, type Root, type RootPath } from '../../fence/index.ts';
import { changeIn } from '../../history/index.ts';
import { printable } from '../../runtime/printable.ts';
import { ToolError } from '../../tools/errors.ts';
import type { IntendedChange } from '../../tools/intended-change.ts';
import { type CallContext, defineTool } from '../../tools/tool.ts';
import { applyUndo, planUndo, type UndoAction, type UndoEffect, UndoError } from '../../undo/index.ts';
import { findChange, historyIn } from './past-changes.ts';
import { rootName } from './shared-schemas.ts';

/** How many steps of an undo are shown. */
const MAX_STEPS = 20;
/** How many a person is asked about. */
const MAX_ASKED = 50;

export const undoChange = defineTool({
  name: 'undo_change',
  description: 'Take back a change of yours, unless newer work is in the way. Can itself be undone.',
  needs: ['undo_change'],
  effect: 'change',
  subject: ['root'],
  input: z.strictObject({ root: rootName, change: z.string() }),
  output: z.object({ steps: z.array(z.string()) }),
  changes: async (args, context) => {
    const { root, actions } = await planOf(args, context);
    if (actions.length > MAX_ASKED) {
      const problem = `change ${args.change} has ${actions.length} steps, too many for a person to agree to; the operator can undo it with the command ringfence undo`;
      throw new ToolError('invalid_argument', { problem, argument: 'change' });
    }
    return actions.flatMap((action) => changesOf(root, action));
  },
  run: async (args, context) => {
    const plan = await planOf(args, context);
    const { root, actions } = plan;
    const { caller, durable, scheduler } = context;
    await applyUndo(plan, { caller, durable, scheduler, change: changeIn(root, caller) });
    const more = actions.length - MAX_STEPS;
    return { steps: [...actions.slice(0, MAX_STEPS).map(actionText), ...(more > 0 ? [`and ${more} more`] : [])] };
  },
  readerText: ({ steps }, { change }) => `undid ${change}\n${steps.join('\n')}`,
});

/** Plans an undo in which nothing is in the way. */
async function planOf({ root: name, change: id }: { root: string; change: string }, context: CallContext) {
  const root = context.root(name);
  const history = historyIn(root, 'undo_change');
  const change = await findChange(history, id, context);
  if (change.undone === 'yes') throw new ToolError('already_undone', { change: id });
  const plan = planUndo(history, root, [change]);
  if (plan.conflicts.length > 0) throw new UndoError('undo_conflict', { conflicts: plan.conflicts });
  return plan;
}

/**
 * Returns what a person is asked about an action. An entry that is not there yet, because an action before brings it
 * about, is asked about as one that is put there.
 */
function changesOf(root: Root, { effect, path, to }: UndoAction): IntendedChange[] {
  const at = (each: string) => ({ root, path: root.parse(each.toWellFormed()) });
  const put = (each: string): IntendedChange => ({ ...at(each), kind: 'replace', follow: false });
  if (!exists(at(path))) return [put(path)];
  switch (effect) {
    case 'move':
      return [{ ...at(path), kind: 'move' }, put(to ?? path)];
    case 'remove':
      return [{ ...at(path), kind: 'remove' }];
    case 'cut':
    case 'extend':
      return [{ ...at(path), kind: 'edit', follow: false }];
    default:
      return [put(path)];
  }
}

function exists({ root, path }: RootPath): boolean {
  try {
    using found = root.locate(path, { follow: false });
    return found.stats !== undefined;
  } catch (error) {
    if (isFenceError(error, 'not_found')) return false;
    throw error;
  }
}

const DONE: Readonly<Record<UndoEffect, string>> = {
  restore: 'restored',
  revert: 'reverted',
  make: 'made folder',
  remove: 'removed',
  move: 'moved',
  cut: 'cut',
  extend: 'extended',
};

function actionText({ effect, path, to }: UndoAction): string {
  return `${DONE[effect]} ${printable(path)}${to === undefined ? '' : ` to ${printable(to)}`}`;
}
