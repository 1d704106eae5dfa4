import { createHash } from 'node:crypto';
import path from 'node:path';
import { type Dir, type Entry, type Name, withLocation } from '../../fence/index.ts';
import { type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import type { OpenTree } from './copy-tree.ts';

/**
 * Computes two digests of a folder tree, from metadata only. `content` covers names, types and file sizes and is the same for a
 * faithful copy. `identity` also covers inodes and times and changes when anything in the tree does. A move compares them, so
 * that it does not remove a file that was added during the copy. Raises what listing raises, and the reason of an aborted
 * signal.
 */
export async function treeDigest(
  top: OpenTree,
  context: OperationContext,
): Promise<{ content: string; identity: string }> {
  const pause = yieldPoint(context);
  const content = createHash('sha256');
  const identity = createHash('sha256');

  async function folder(dir: Dir, names: readonly string[]): Promise<void> {
    const depth = names.length;
    for (const { name, raw, type } of dir.list().sort(byBytes)) {
      const wait = pause();
      if (wait !== undefined) await wait;
      const stats = dir.lstat(raw);
      content
        .update(`${depth} ${type} ${type === 'file' ? stats?.size : ''} `)
        .update(raw)
        .update('\0');
      identity
        .update(`${depth} ${stats?.ino} ${stats?.size} ${stats?.mtimeMs} ${stats?.ctimeMs} `)
        .update(raw)
        .update('\0');
      if (type === 'directory') await subfolder(dir, raw, [...names, name]);
    }
  }

  function subfolder(parent: Dir, raw: Name, names: readonly string[]): Promise<void> {
    return withLocation(top.root, { raw: path.posix.join(top.path.raw, ...names) }, async () => {
      using dir = parent.openDir(raw);
      await folder(dir, names);
    });
  }

  await withLocation(top.root, top.path, () => folder(top.dir, []));
  return { content: content.digest('hex'), identity: identity.digest('hex') };
}

function byBytes(a: Entry, b: Entry): number {
  return Buffer.compare(Buffer.from(a.raw), Buffer.from(b.raw));
}
