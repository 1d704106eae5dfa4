import { type CallerPath, type EntryType, ROOT_PATH, type Root } from '../../fence/index.ts';
import { childPath, DirCache, START_NODE } from './dir-cache.ts';
import { walkTree } from './walk-tree.ts';

const UNLIMITED = { isSpent: false, spend: () => {} };
const ALL_TYPES: readonly EntryType[] = ['file', 'directory', 'symlink', 'other'];

export interface WalkOptions {
  /** The folder to start from, by default the root itself. A link here is followed if it stays inside. */
  readonly path?: CallerPath;
  /** How deep to look: 1 is the direct children of `path`. Without it there is no limit. */
  readonly maxDepth?: number;
  /** Return only entries of these types. Folders are entered in any case. */
  readonly types?: readonly EntryType[];
  /** Leave out names that begin with a dot, and all below such folders. */
  readonly skipHidden?: boolean;
}

export interface WalkedEntry {
  /** Relative to the root. */
  readonly path: string;
  readonly name: string;
  readonly type: EntryType;
  /** 1 for the direct children of the folder that the walk started from. */
  readonly depth: number;
}

/**
 * Walks the tree below a folder on the calling thread, in order of the code points of the whole path. Symbolic links are
 * returned, never followed. A folder that vanishes or may not be read is left out. Raises what opening `path` raises.
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
