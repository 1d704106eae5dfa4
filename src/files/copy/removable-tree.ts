import { isFenceError, temporaryName } from '../../fence/index.ts';
import type { OperationContext } from '../../runtime/operation-context.ts';
import type { OpenTree } from './copy-tree.ts';
import { walkTree } from './walk-tree.ts';

/**
 * Raises why entries of a folder tree cannot be removed, as far as the folders show it: `permission_denied`,
 * `read_only`. Changes nothing.
 */
export function assertRemovable(top: OpenTree, context: OperationContext): Promise<void> {
  return walkTree(top, context, ({ dir }) => dir.assertChangeable());
}

/**
 * Raises why an entry of a folder tree cannot be removed, for whatever reason: an immutable file, a sticky folder, a
 * mount point. Only the system knows that for certain, so each entry is renamed and renamed back, for which the same
 * rights are needed. That changes nothing but times, and nobody else may be using the tree.
 */
export function proveRemovable(top: OpenTree, context: OperationContext): Promise<void> {
  const hidden = temporaryName();
  return walkTree(top, context, ({ dir, raw }) => {
    try {
      dir.rename(raw, dir, hidden);
    } catch (error) {
      // On overlayfs, a folder of the lower layer can be removed but not renamed.
      if (isFenceError(error, 'io_error') && error.details.errno === 'EXDEV') return;
      throw error;
    }
    dir.rename(hidden, dir, raw);
  });
}
