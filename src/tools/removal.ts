import { isFenceError, type RootPath } from '../fence/index.ts';
import type { IntendedChange } from './intended-change.ts';

/**
 * Returns the change of a tool that needs `remove_file`, and `remove_folder` too if it is a folder that it removes.
 * Raises what `Root.locate` raises, except for a missing entry.
 */
export function removal(target: RootPath): IntendedChange {
  if (!isFolder(target)) return { ...target, kind: 'remove' };
  return { ...target, kind: 'remove', needs: ['remove_file', 'remove_folder'] };
}

function isFolder({ root, path }: RootPath): boolean {
  try {
    using found = root.locate(path, { follow: false });
    return found.stats?.isDirectory() ?? false;
  } catch (error) {
    if (isFenceError(error, 'not_found', 'not_directory')) return false;
    throw error;
  }
}
