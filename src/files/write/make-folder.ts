import { type CallerPath, FenceError, isFenceError, type Root, withLocation } from '../../fence/index.ts';

/**
 * Creates a folder and, unless `makeParents` is false, its missing parents. `created` is false if the folder already exists.
 * Raises `already_exists` if something else is there, and what `Root.locate` raises.
 */
export async function makeFolder(
  root: Root,
  path: CallerPath,
  { makeParents = true } = {},
): Promise<{ created: boolean }> {
  return withLocation(root, path, () => {
    using location = root.locate(path, { follow: true, makeParents });
    if (location.stats === undefined) {
      try {
        location.dir.mkdir(location.name);
        return { created: true };
      } catch (error) {
        // Created concurrently: the result is the same, provided that it is a folder.
        if (!isFenceError(error, 'already_exists')) throw error;
      }
    }
    const stats = location.stats ?? location.dir.lstat(location.name);
    if (!stats?.isDirectory()) throw new FenceError('already_exists', {});
    return { created: false };
  });
}
