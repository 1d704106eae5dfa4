import { createHash } from 'node:crypto';
import type { OperationContext } from '../../runtime/operation-context.ts';
import type { OpenTree } from './copy-tree.ts';
import { walkTree } from './walk-tree.ts';

/** Two digests of a folder tree, from metadata only. */
export interface TreeDigest {
  /** Covers names, types and file sizes, and is the same for a faithful copy. */
  readonly content: string;
  /** Also covers inodes and times, and changes when anything in the tree does. */
  readonly identity: string;
}

/**
 * Computes the digests of a folder tree. A move compares them, so that it does not remove a file that was added during
 * the copy. Raises what `walkTree` raises.
 */
export async function treeDigest(top: OpenTree, context: OperationContext): Promise<TreeDigest> {
  const content = createHash('sha256');
  const identity = createHash('sha256');
  await walkTree(top, context, ({ dir, depth, raw, type }) => {
    const stats = dir.lstat(raw);
    content
      .update(`${depth} ${type} ${type === 'file' ? stats?.size : ''} `)
      .update(raw)
      .update('\0');
    identity
      .update(`${depth} ${stats?.ino} ${stats?.size} ${stats?.mtimeMs} ${stats?.ctimeMs} `)
      .update(raw)
      .update('\0');
  });
  return { content: content.digest('hex'), identity: identity.digest('hex') };
}
