import type { Root } from '../../fence/index.ts';
import { type History, historyOf, type Step, timeOfChange } from '../../history/index.ts';
import { yieldPoint } from '../../runtime/operation-context.ts';
import { printable } from '../../runtime/printable.ts';
import { ToolError } from '../../tools/errors.ts';
import type { CallContext } from '../../tools/tool.ts';
import { type PastChange, pastChanges } from '../../undo/index.ts';

/** How far clocks may be apart. */
const CLOCK_SKEW_MS = 60_000;

/** Returns the history of a root for a tool that needs one. Raises `tool_not_allowed` if there is none. */
export function historyIn(root: Root, tool: string): History {
  const history = historyOf(root);
  if (history === undefined) throw new ToolError('tool_not_allowed', { tool }, { root: root.name });
  return history;
}

/** Reports whether a client may see and undo a change: one of its own, unless it may all. */
export function mayUndo({ caller }: PastChange, { client, caller: asking }: CallContext): boolean {
  return client.undo === 'all' || (asking.owner !== undefined && caller.owner === asking.owner);
}

/**
 * Reads the changes of a root, newest first, as far back as they can be of interest to a client. Other calls run in
 * between, and it stops with the call.
 */
export async function* changesFor(history: History, context: CallContext): AsyncGenerator<PastChange, void, undefined> {
  const pause = yieldPoint(context);
  const since = oldestOwn(context);
  for (const change of pastChanges(history)) {
    if (change.time < since) return;
    yield change;
    await pause();
  }
}

/** Returns when the first change of a client can have been made. */
function oldestOwn({ client }: CallContext): number {
  // The key of a session or process is not older than this process.
  const isShortLived = client.kind === 'session' || client.kind === 'process';
  return isShortLived && client.undo !== 'all' ? performance.timeOrigin - CLOCK_SKEW_MS : 0;
}

/** Finds a change that a client may undo. Raises `unknown_change` and `not_own_change`. */
export async function findChange(history: History, id: string, context: CallContext): Promise<PastChange> {
  const pause = yieldPoint(context);
  const made = timeOfChange(id);
  let oldest = Date.now();
  for (const change of made === undefined ? [] : pastChanges(history)) {
    if (change.id === id) {
      if (mayUndo(change, context)) return change;
      throw new ToolError('not_own_change', { change: id, anonymous: context.caller.owner === undefined });
    }
    oldest = Math.min(oldest, change.time);
    if (made !== undefined && change.time < made - CLOCK_SKEW_MS) break;
    await pause();
  }
  throw new ToolError('unknown_change', { change: id, expired: made !== undefined && made < oldest - CLOCK_SKEW_MS });
}

const DONE: Readonly<Record<Step['kind'], string>> = {
  put: 'wrote',
  append: 'appended to',
  truncate: 'cut',
  remove: 'removed',
  make: 'made folder',
  unmake: 'removed folder',
  move: 'moved',
};

/** Says what a step did, for a reader. */
export function stepText({ kind, path, to, before }: Step): string {
  const verb = kind === 'put' && before === undefined ? 'created' : DONE[kind];
  return `${verb} ${printable(path)}${to === undefined ? '' : ` to ${printable(to)}`}`;
}

/** Reports whether the rules of a root hide one of the paths of a step, since they may be newer than the step. */
export function isHidden(root: Root, { path, to }: Step): boolean {
  return [path, to].some((each) => {
    if (each === undefined) return false;
    const caller = root.parse(each.toWellFormed());
    return [true, false].some((isFolder) => root.explain(caller, isFolder)?.rule === 'deny');
  });
}
