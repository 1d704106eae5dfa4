import * as z from 'zod';
import { changeIn } from '../../history/index.ts';
import { printable } from '../../runtime/printable.ts';
import { ToolError } from '../../tools/errors.ts';
import { defineTool } from '../../tools/tool.ts';
import { applyUndo, planUndo, type UndoAction, type UndoEffect, UndoError } from '../../undo/index.ts';
import { findChange, historyIn } from './past-changes.ts';
import { rootName } from './shared-schemas.ts';

/** How many steps of an undo are shown. */
const MAX_STEPS = 20;

export const undoChange = defineTool({
  name: 'undo_change',
  description: 'Take back a change of yours, unless newer work is in the way. Can itself be undone.',
  needs: ['undo_change'],
  effect: 'change',
  subject: ['root'],
  input: z.strictObject({ root: rootName, change: z.string() }),
  output: z.object({ steps: z.array(z.string()) }),
  run: async ({ root: name, change: id }, context) => {
    const root = context.root(name);
    const history = historyIn(root);
    const change = await findChange(history, id, context);
    if (change.undone === 'yes') throw new ToolError('already_undone', { change: id });
    const plan = planUndo(history, root, [change]);
    const { actions, conflicts } = plan;
    if (conflicts.length > 0) throw new UndoError('undo_conflict', { conflicts });
    const { caller, durable, scheduler } = context;
    await applyUndo(plan, { caller, durable, scheduler, change: changeIn(root, caller) });
    const more = actions.length - MAX_STEPS;
    return { steps: [...actions.slice(0, MAX_STEPS).map(actionText), ...(more > 0 ? [`and ${more} more`] : [])] };
  },
  readerText: ({ steps }, { change }) => `undid ${change}\n${steps.join('\n')}`,
});

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
