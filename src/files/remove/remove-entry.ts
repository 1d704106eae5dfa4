import {
  type CallerPath,
  type EntryType,
  entryTypeOf,
  FenceError,
  type Root,
  withLocation,
} from '../../fence/index.ts';
import { DEFAULT_CONTEXT, type OperationContext } from '../../runtime/operation-context.ts';
import { deferFree } from '../deferred-free.ts';
import { type RemoveOptions, removeLocatedFolder } from './remove-folder.ts';

/** Options of `removeEntry`. */
export interface RemoveEntryOptions extends RemoveOptions {
  /** Called before a folder is removed. It refuses the removal by throwing. */
  beforeFolder?(): void;
}

/** Removes a file or a link itself, and returns its type. Raises `not_found`, `is_directory`, and what `Root.locate` raises. */
export async function removeFile(root: Root, path: CallerPath): Promise<{ type: EntryType }> {
  return withLocation(root, path, () => {
    using found = root.locate(path, { follow: false });
    if (found.stats === undefined) throw new FenceError('not_found', {});
    if (found.stats.isDirectory()) throw new FenceError('is_directory', {});
    using _held = deferFree(found);
    found.dir.unlink(found.name);
    return { type: entryTypeOf(found.stats) };
  });
}

/**
 * Removes the entry at a path and returns its type: a file, a link itself, or a folder as `removeFolder` does. Raises
 * `not_found`, and for a folder what `removeFolder` and `beforeFolder` raise.
 */
export async function removeEntry(
  root: Root,
  path: CallerPath,
  { beforeFolder, ...options }: RemoveEntryOptions = {},
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<{ type: EntryType }> {
  return withLocation(root, path, async () => {
    using found = root.locate(path, { follow: false });
    if (found.stats === undefined) throw new FenceError('not_found', {});
    if (found.stats.isDirectory()) {
      beforeFolder?.();
      await removeLocatedFolder(found, options, context);
    } else {
      using _held = deferFree(found);
      found.dir.unlink(found.name);
    }
    return { type: entryTypeOf(found.stats) };
  });
}
