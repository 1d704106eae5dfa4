import path from 'node:path';
import { type Dir, type Entry, type Name, withLocation } from '../../fence/index.ts';
import { type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import type { OpenTree } from './copy-tree.ts';

/** An entry of a tree, in the open folder that contains it. */
export interface TreeEntry extends Entry {
  readonly dir: Dir;
  /** How many folders of the tree the entry is in, besides the top. */
  readonly depth: number;
}

/**
 * Calls `visit` for every entry of a folder tree, a folder before what is in it, in the order of the names' bytes.
 * Links are not followed, and temporary files are left out. Raises what listing and `visit` raise, with the path of the
 * folder, and the reason of an aborted signal.
 */
export async function walkTree(
  top: OpenTree,
  context: OperationContext,
  visit: (entry: TreeEntry) => void,
): Promise<void> {
  const pause = yieldPoint(context);

  async function folder(dir: Dir, names: readonly string[]): Promise<void> {
    for (const entry of dir.list().sort(byBytes)) {
      const wait = pause();
      if (wait !== undefined) await wait;
      visit({ ...entry, dir, depth: names.length });
      if (entry.type === 'directory') await subfolder(dir, entry.raw, [...names, entry.name]);
    }
  }

  function subfolder(parent: Dir, raw: Name, names: readonly string[]): Promise<void> {
    return withLocation(top.root, { raw: path.posix.join(top.path.raw, ...names) }, async () => {
      using dir = parent.openDir(raw);
      await folder(dir, names);
    });
  }

  await withLocation(top.root, top.path, () => folder(top.dir, []));
}

function byBytes(a: Entry, b: Entry): number {
  return Buffer.compare(Buffer.from(a.raw), Buffer.from(b.raw));
}
