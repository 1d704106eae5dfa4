import path from 'node:path';
import { type CheckedTree, type Dir, type Location, type RootPath, withLocationSync } from '../../fence/index.ts';
import type { OperationContext } from '../../runtime/operation-context.ts';
import type { ChangeAttempt } from '../lease/retry-change.ts';
import { renameFree } from '../rename-free.ts';
import { assertVersion } from '../write/if-match.ts';

/** The source or destination of a move, with the open folder that contains it. */
export interface MoveEnd extends RootPath {
  readonly at: Location;
}

/** A move under way. */
export interface MoveJob {
  readonly source: MoveEnd;
  readonly target: MoveEnd;
  readonly options: {
    readonly durable?: boolean;
    readonly overwrite?: boolean;
    readonly isPrivate?: boolean;
    readonly ifDestination?: string | undefined;
  };
  /** The version that the source must have, from `ifMatch`. */
  readonly expected: string | undefined;
  readonly context: OperationContext;
  readonly attempt: ChangeAttempt;
  /** Set for a folder: nothing in it has to stay where it is. */
  readonly checked: CheckedTree | undefined;
}

/** Raises `version_mismatch` if the source or the destination is not the expected one. */
export function assertExpected({ source, target, expected, options: { ifDestination } }: MoveJob): void {
  if (expected !== undefined) atEnd(source, ({ dir, name }) => assertVersion(dir.lstat(name), expected));
  if (ifDestination !== undefined) atEnd(target, ({ dir, name }) => assertVersion(dir.lstat(name), ifDestination));
}

/** Runs an operation on one end of the move, so that its errors carry the path of that end. */
export function atEnd<T>({ root, path, at }: MoveEnd, work: (at: Location) => T): T {
  return withLocationSync(root, path, () => work(at));
}

/**
 * Gives an entry the name of an end of the move, or a similar one if something else has it by now. Returns the path.
 * `proof` is for a folder that is not hidden.
 */
export function bringBack(
  { at, path: { raw } }: MoveEnd,
  from: { readonly dir: Dir; readonly name: string },
  proof?: (dir: Dir, name: string) => CheckedTree | undefined,
): string {
  const name = renameFree(from, at, proof);
  return name === at.name ? raw : path.posix.join(path.posix.dirname(raw), name);
}
