import {
  type CallerPath,
  type EntryType,
  entryTypeOf,
  FenceError,
  type Root,
  withLocation,
} from '../../fence/index.ts';
import { freeLater } from '../free-later.ts';

/** Removes one file, or a link itself, and tells what it was. A folder is `is_directory`. */
export async function removeFile(root: Root, path: CallerPath): Promise<{ type: EntryType }> {
  return withLocation(root, path, () => {
    using found = root.locate(path, { follow: false });
    if (found.stats === undefined) throw new FenceError('not_found', {});
    if (found.stats.isDirectory()) throw new FenceError('is_directory', {});
    using _held = freeLater(found);
    found.dir.unlink(found.name);
    return { type: entryTypeOf(found.stats) };
  });
}
