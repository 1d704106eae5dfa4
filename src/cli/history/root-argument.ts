import { parseCallerPath } from '../../fence/index.ts';
import { HISTORY_FOLDER } from '../../history/index.ts';

/** A root and a path in it, as written on a command line. */
export interface RootArgument {
  /** The name of a root, or a folder. */
  readonly root: string;
  /** From the top of the root; undefined for all of it. */
  readonly path: string | undefined;
}

/**
 * Reads `ROOT[:PATH]`, where a root's name has no colon but a folder may have some. What stands before the last colon
 * that leaves a `known` root is the root, so the longest folder that exists is meant. Undefined if there is none.
 */
export function parseRootArgument(text: string, isKnown: (root: string) => boolean): RootArgument | undefined {
  if (isKnown(text)) return { root: text, path: undefined };
  for (let colon = text.lastIndexOf(':'); colon > 0; colon = text.lastIndexOf(':', colon - 1)) {
    const root = text.slice(0, colon);
    if (isKnown(root)) return { root, path: text.slice(colon + 1) };
  }
  return undefined;
}

/**
 * Reads a path from the top of a root, with `.` and `..` resolved, and empty for the top itself. Undefined if it leaves
 * the root or leads into its history.
 */
export function parsePath(text: string): string | undefined {
  try {
    const { segments } = parseCallerPath(text);
    return segments.includes(HISTORY_FOLDER) ? undefined : segments.join('/');
  } catch {
    return undefined;
  }
}
