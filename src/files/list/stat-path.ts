import type { Stats } from 'node:fs';
import { type CallerPath, FenceError, isFenceError, type Root } from '../../fence/index.ts';

export interface PathStatus {
  /** The entry itself: for a link, the link. */
  readonly stats: Stats;
  /** What a link leads to; null if that is missing. Absent for anything but a link. */
  readonly target?: { readonly path: string; readonly stats: Stats } | null;
}

/** What is at a path, and for a link what it leads to. An outward link is `outside_root`. */
export function statPath(root: Root, path: CallerPath): PathStatus {
  using found = root.locate(path, { follow: false });
  if (found.stats === undefined) throw new FenceError('not_found', {}, { path: path.raw, root: root.name });
  if (!found.stats.isSymbolicLink()) return { stats: found.stats };
  return { stats: found.stats, target: targetOf(root, path) };
}

function targetOf(root: Root, link: CallerPath): NonNullable<PathStatus['target']> | null {
  try {
    using target = root.locate(link, { follow: true });
    return target.stats === undefined ? null : { path: target.path, stats: target.stats };
  } catch (error) {
    // The link is there; it is the way behind it that ends early.
    if (isFenceError(error, 'not_found', 'not_directory')) return null;
    throw error;
  }
}
