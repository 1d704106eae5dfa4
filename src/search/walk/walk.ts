import { type CallerPath, type EntryType, ROOT_PATH, type Root } from '../../fence/index.ts';
import { childPath, DirCache, START_NODE } from './dir-cache.ts';
import { type WalkBudget, walkTree } from './walk-tree.ts';

const UNLIMITED: WalkBudget = { isSpent: () => false, spend: () => {} };
const ALL_TYPES: readonly EntryType[] = ['file', 'directory', 'symlink', 'other'];

/** Options of `walk`. */
export interface WalkOptions {
  /** The folder to start from, by default the root. A symbolic link here is followed if it stays inside the root. */
  readonly path?: CallerPath;
  /** Maximum depth: 1 is the direct children of `path`. By default there is no limit. */
  readonly maxDepth?: number;
  /** Types of entries to return, by default all. Folders are entered in any case. */
  readonly types?: readonly EntryType[];
  /** Skips entries whose name starts with a dot, and everything below such folders. */
  readonly skipHidden?: boolean;
}

/** An entry that `walk` returns. */
export interface WalkedEntry {
  /** Path relative to the root. */
  readonly path: string;
  readonly name: string;
  readonly type: EntryType;
  /** 1 for the direct children of the start of the walk. */
  readonly depth: number;
}

/**
 * Walks the tree below a folder on the calling thread, in order of the code points of the whole path. Symbolic links
 * are returned, never followed. Folders that vanish or cannot be read are skipped. Raises what opening `path` raises.
 *
 * It is synchronous: between two entries it may list a folder. It is not a snapshot: entries that change during the
 * walk may or may not be returned.
 */
export function* walk(root: Root, options: WalkOptions = {}): Generator<WalkedEntry, void> {
  const { path = ROOT_PATH, maxDepth = Number.POSITIVE_INFINITY, types = ALL_TYPES } = options;
  const prefix = path.segments.map((segment) => `${segment}/`).join('');
  using dirs = new DirCache(() => root.openDir(path));
  const visits = walkTree(START_NODE, {
    dirs,
    budget: UNLIMITED,
    types: new Set(types),
    maxDepth,
    skipHidden: options.skipHidden ?? false,
    enters: () => true,
    skipped: () => {},
  });
  for (const { node, entries = [] } of visits) {
    for (const { name, type } of entries) {
      yield { path: prefix + childPath(node, name), name, type, depth: node.depth + 1 };
    }
  }
}
