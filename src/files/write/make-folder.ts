import { type CallerPath, FenceError, isFenceError, type Root, withLocation } from '../../fence/index.ts';

/** Makes a folder and, unless told otherwise, those above it. An existing folder is fine; anything else is `already_exists`. */
export async function makeFolder(
  root: Root,
  path: CallerPath,
  { makeParents = true } = {},
): Promise<{ created: boolean }> {
  return withLocation(root, path, () => {
    using place = root.locate(path, { follow: true, makeParents });
    if (place.stats === undefined) {
      try {
        place.dir.mkdir(place.name);
        return { created: true };
      } catch (error) {
        // Somebody else made it just now: then it only matters whether it is a folder.
        if (!isFenceError(error, 'already_exists')) throw error;
      }
    }
    const stats = place.stats ?? place.dir.lstat(place.name);
    if (!stats?.isDirectory()) throw new FenceError('already_exists', {});
    return { created: false };
  });
}
