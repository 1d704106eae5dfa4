import { type CallerPath, isFenceError, type Root } from '../../fence/index.ts';
import { DEFAULT_CONTEXT, type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { type EntryInfo, listEntries } from './list-folder.ts';

/** An entry of a tree. */
export interface TreeEntry extends EntryInfo {
  /** The path, relative to the folder that is listed. */
  readonly path: string;
  /** For a folder whose children did not all fit: how many are left out. */
  readonly omitted?: number;
}

/** The entries of a folder and of the folders in it. */
export interface Tree {
  /** In path order: each folder is followed by what is in it. */
  readonly entries: readonly TreeEntry[];
  /** How many entries there are, as far as they were counted: below a folder that is left out, none are. */
  readonly count: number;
  /** Whether entries follow, in breadth-first order, after those that are listed. */
  readonly more: boolean;
}

/** Options of `listTree`. */
export interface TreeOptions {
  /** How many levels to list; 1 is the folder's own children. */
  readonly depth: number;
  readonly maxEntries: number;
  /** How many entries to leave out before the first one to list, in breadth-first order; by default none. */
  readonly offset?: number;
  /** Called for each entry as it is found, level by level. Returns false if it does not fit, which ends the listing. */
  fits(entry: TreeEntry): boolean;
}

interface Folder {
  readonly path: string;
  readonly children: Node[];
  omitted: number;
}

interface Node {
  /** Absent for a folder before the offset, whose children may be listed. */
  readonly entry?: TreeEntry;
  readonly folder?: Folder;
}

/**
 * Lists a folder and the folders in it, hidden entries included. If not everything fits, what is nearest to the top is
 * listed (breadth-first), and each folder says how many of its children are left out. Links are not followed. A folder
 * that cannot be opened, other than the first, is listed as empty. Raises what `Root.openDir` raises for the first
 * folder, and the reason of an aborted signal.
 */
export async function listTree(
  root: Root,
  path: CallerPath,
  { depth, maxEntries, offset = 0, fits }: TreeOptions,
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<Tree> {
  const top: Folder = { path: '', children: [], omitted: 0 };
  let level: readonly Folder[] = [top];
  let skip = offset;
  let left = maxEntries;
  let count = 0;
  const pause = yieldPoint(context);
  for (let at = 1; at <= depth && level.length > 0; at += 1) {
    const below: Folder[] = [];
    for (const folder of level) {
      const wait = pause();
      if (wait !== undefined) await wait;
      let skipped = 0;
      let listed = 0;
      const onEntry = (name: string, info: EntryInfo): boolean => {
        const entry = { path: folder.path === '' ? name : `${folder.path}/${name}`, ...info };
        const child = info.type === 'directory' ? { path: entry.path, children: [], omitted: 0 } : undefined;
        if (skip > 0) {
          skip -= 1;
          skipped += 1;
          if (child !== undefined) folder.children.push({ folder: child });
        } else {
          if (left === 0 || !fits(entry)) {
            left = 0;
            return false;
          }
          left -= 1;
          listed += 1;
          folder.children.push({ entry, ...(child && { folder: child }) });
        }
        if (child !== undefined) below.push(child);
        return true;
      };
      const here = folder === top ? path : root.parse([...path.segments, folder.path].join('/'));
      const children = await listChildren(
        { root, path: here, isTop: folder === top },
        { maxEntries: skip + left, onEntry },
        context,
      );
      count += children;
      folder.omitted = Math.max(0, children - skipped - listed);
    }
    level = below;
  }
  const entries = [...inOrder(top)];
  return { entries, count, more: offset + entries.length < count };
}

type ListedFolder = { readonly root: Root; readonly path: CallerPath; readonly isTop: boolean };

async function listChildren(
  { root, path, isTop }: ListedFolder,
  options: Parameters<typeof listEntries>[2],
  context: OperationContext,
): Promise<number> {
  try {
    return await listEntries(root, path, options, context);
  } catch (error) {
    // A folder may be closed to this process, or be removed or replaced while its parent is listed.
    const isSkipped = isFenceError(error, 'permission_denied', 'not_found', 'not_directory', 'outside_root');
    if (isTop || !isSkipped) throw error;
    return 0;
  }
}

function* inOrder({ children }: Folder): Generator<TreeEntry, void, undefined> {
  for (const { entry, folder } of children) {
    if (entry !== undefined) {
      yield folder !== undefined && folder.omitted > 0 ? { ...entry, omitted: folder.omitted } : entry;
    }
    if (folder !== undefined) yield* inOrder(folder);
  }
}
