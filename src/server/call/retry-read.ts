import { fromSystem, isFenceError, isTransient } from '../../fence/index.ts';
import { cancellableSleep } from '../../runtime/operation-context.ts';
import type { Roots } from '../../tools/roots.ts';
import type { Tool } from '../../tools/tool.ts';
import type { ResultFields } from './render-result.ts';
import type { Arguments } from './running/call-request.ts';
import type { ToolContext } from './tool-context.ts';

const READ_ATTEMPTS = 8;
/** Doubles with each attempt: about 8 s in all, which is longer than such file systems cache under load. */
const FIRST_PAUSE_MS = 30;
/** How often a file is looked for again that may only not be seen for a moment: for about a second. */
const MISSING_READ_ATTEMPTS = 5;

/**
 * Reports whether a read may succeed a moment later: it failed with what a file system of several machines answers now
 * and then, or did not find a file on one, which may just be replaced by another machine.
 */
export function mayBeTransient(error: unknown, roots: Roots): boolean {
  if (isTransient(fromSystem(error))) return true;
  if (!isFenceError(error, 'not_found') || error.root === undefined || !roots.has(error.root)) return false;
  const found = roots.find(error.root, []);
  return found.kind !== 'agent' && !found.root.top.isLocal();
}

/**
 * Runs a tool that changes nothing again, after it failed in a way that may pass. Raises what the last attempt raises,
 * and the reason of an aborted signal.
 */
export async function retryRead(tool: Tool, args: Arguments, context: ToolContext): Promise<ResultFields> {
  for (let attempt = 1; ; attempt += 1) {
    await cancellableSleep(FIRST_PAUSE_MS * 2 ** (attempt - 1), context.signal);
    try {
      return await tool.run(args, context);
    } catch (error) {
      const attempts = isFenceError(error, 'not_found') ? MISSING_READ_ATTEMPTS : READ_ATTEMPTS;
      if (attempt >= attempts || !(isTransient(fromSystem(error)) || isFenceError(error, 'not_found'))) throw error;
    }
  }
}

/** Returns a transient error as a `FenceError`, wherever it was thrown; undefined for any other, which is a bug. */
export function transientError(thrown: unknown): Error | undefined {
  const error = fromSystem(thrown);
  return isTransient(error) ? (error as Error) : undefined;
}
