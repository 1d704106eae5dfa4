import { RingfenceError } from '../errors.ts';
import type { CallerPath, Root } from '../fence/index.ts';
import { located } from './located.ts';

/** Removes one file, or a link itself. A folder is `is_directory`. */
export async function removeFile(root: Root, path: CallerPath): Promise<void> {
  return located(root, path, () => {
    using found = root.locate(path, { follow: false });
    if (found.stats === undefined) throw new RingfenceError('not_found', {});
    if (found.stats.isDirectory()) throw new RingfenceError('is_directory', {});
    found.dir.unlink(found.name);
  });
}
