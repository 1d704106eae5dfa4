import { randomBytes } from 'node:crypto';
import { type CheckedTree, type Dir, isFenceError, type Name } from '../fence/index.ts';

/**
 * Moves an entry to a name in a directory, or to a similar one if something else has it. Returns the name that it got.
 * `proof` is for a folder that is not hidden.
 */
export function renameFree(
  from: { readonly dir: Dir; readonly name: Name },
  to: { readonly dir: Dir; readonly name: string },
  proof?: (dir: Dir, name: string) => CheckedTree | undefined,
): string {
  const { dir, name } = to;
  try {
    from.dir.renameNoReplace(from.name, dir, name, proof?.(dir, name));
    return name;
  } catch (error) {
    if (!isFenceError(error, 'already_exists')) throw error;
  }
  const similar = `${name}.${randomBytes(4).toString('hex')}`;
  from.dir.renameNoReplace(from.name, dir, similar, proof?.(dir, similar));
  return similar;
}
