import type { Stats } from 'node:fs';
import { type CallerPath, FenceError, isFenceError, type Root } from '../../fence/index.ts';
import { DEFAULT_CONTEXT, type OperationContext } from '../../runtime/operation-context.ts';
import { awaitLatest } from '../lease/await-latest.ts';

/** What is at a path. */
export interface PathStatus {
  /** The entry itself: for a link, the link. */
  readonly stats: Stats;
  /** The target of a link, or null if it is missing. Absent for anything but a link. */
  readonly target?: { readonly path: string; readonly stats: Stats } | null;
}

/**
 * Stats a path, and for a link also its target. Raises `not_found`, `link_loop`, and `outside_root` for an outward
 * link.
 */
export function statPath(root: Root, path: CallerPath): PathStatus {
  using found = root.locate(path, { follow: false });
  if (found.stats === undefined) throw new FenceError('not_found', {}, { path: path.raw, root: root.name });
  if (!found.stats.isSymbolicLink()) return { stats: found.stats };
  return { stats: found.stats, target: targetOf(root, path) };
}

/**
 * Stats a path as `statPath` does, once this machine shows what other machines have changed. Raises also the reason of
 * an aborted signal.
 */
export async function statLatest(
  root: Root,
  path: CallerPath,
  context: Pick<OperationContext, 'signal'> = DEFAULT_CONTEXT,
): Promise<PathStatus> {
  await awaitLatest(root, path, context);
  return statPath(root, path);
}

function targetOf(root: Root, link: CallerPath): NonNullable<PathStatus['target']> | null {
  try {
    using target = root.locate(link, { follow: true });
    return target.stats === undefined ? null : { path: target.path, stats: target.stats };
  } catch (error) {
    // The link itself exists; only its target is missing.
    if (isFenceError(error, 'not_found', 'not_directory')) return null;
    throw error;
  }
}
