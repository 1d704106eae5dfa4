import { type CheckedTree, isFenceError } from '../fence/index.ts';
import type { DirEntry } from './kept-entries.ts';

/**
 * Moves an entry in one step, if nothing is in the way. A folder that its owner may not write to is made writable for
 * that moment: the system writes the name of its parent into it, and would refuse what removing an empty one does not
 * need.
 */
export function moveEntry(from: DirEntry, to: DirEntry, checked?: CheckedTree): void {
  try {
    from.dir.renameNoReplace(from.name, to.dir, to.name, checked);
  } catch (error) {
    if (!isFenceError(error, 'permission_denied')) throw error;
    const stats = from.dir.lstat(from.name);
    if (stats?.isDirectory() !== true || (stats.mode & 0o200) !== 0) throw error;
    moveUnwritable(from, to, stats.mode & 0o7777, checked);
  }
}

function moveUnwritable(from: DirEntry, to: DirEntry, mode: number, checked: CheckedTree | undefined): void {
  from.dir.chmod(from.name, mode | 0o700);
  try {
    from.dir.renameNoReplace(from.name, to.dir, to.name, checked);
  } catch (failure) {
    from.dir.chmod(from.name, mode);
    throw failure;
  }
  to.dir.chmod(to.name, mode);
}
