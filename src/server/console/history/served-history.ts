import type { Root } from '../../../fence/index.ts';
import { type History, historyOf } from '../../../history/index.ts';
import { CONFLICT_WORDS } from '../../../review/index.ts';
import type { Caller } from '../../../runtime/operation-context.ts';
import type { Roots } from '../../../tools/roots.ts';
import { type Conflict, isUndoError } from '../../../undo/index.ts';
import type { Viewer } from '../model/viewers.ts';
import { Refusal } from '../web/replies.ts';

/** The history of a root, for somebody who may see it. */
export interface ServedHistory {
  readonly root: Root;
  readonly history: History;
  /** Who asks, for what is changed. */
  readonly caller: Caller;
  /** Whether changes are flushed to disk. */
  readonly durable: boolean;
}

/** Finds the history of a root that a viewer sees. Raises `Refusal`. */
export function findHistory(roots: Roots, viewer: Viewer, name: string, durable: boolean): ServedHistory {
  const found = viewer.seesRoot(name) && roots.has(name) ? roots.find(name, []) : undefined;
  const history = found === undefined || found.kind === 'agent' ? undefined : historyOf(found.root);
  if (found === undefined || found.kind === 'agent' || history === undefined) {
    throw new Refusal(404, 'there is no such root with a history');
  }
  const caller = { tool: 'console', client: viewer.name, owner: viewer.key };
  return { root: found.root, history, caller, durable };
}

/** Reports whether the rules of a root hide a path: it does not exist for anybody. */
export function isDenied(root: Root, path: string): boolean {
  const caller = root.parse(path.toWellFormed());
  return [true, false].some((isFolder) => root.explain(caller, isFolder)?.rule === 'deny');
}

/** Returns the refusal of something that newer work is in the way of. */
export function conflictRefusal(conflicts: readonly Conflict[]): Refusal {
  return new Refusal(409, 'newer work is in the way, so nothing was taken back', {
    conflicts: conflicts.map(({ path, reason }) => ({ path, reason: CONFLICT_WORDS[reason] })),
  });
}

/** Runs what takes something back, and turns what can go wrong into `Refusal`. */
export async function orRefuse<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isUndoError(error, 'undo_conflict')) throw conflictRefusal(error.details.conflicts);
    if (!isUndoError(error, 'undo_incomplete')) throw error;
    const { change, paths } = error.details;
    throw new Refusal(
      500,
      `it failed half-way, and these stay as they are now: ${paths.join(', ')}; change ${change} shows what was done to them`,
    );
  }
}
