import type { Dialect } from '../../tools/dialect.ts';
import { workspace } from './index.ts';
import { listChanges } from './list-changes.ts';
import { undoChange } from './undo-change.ts';
import { withChange } from './with-change.ts';

/**
 * The workspace dialect for a server that keeps the history of a root: changes are named in results, can be listed and
 * undone.
 */
export const workspaceWithHistory: Dialect = {
  ...workspace,
  instructions: `${workspace.instructions} Where list_roots shows undo_change, your changes are kept and can be taken back.`,
  tools: [...workspace.tools, listChanges, undoChange].map(withChange),
};
