import {
  type CallerPath,
  type EntryType,
  entryTypeOf,
  FenceError,
  type Root,
  withLocation,
} from '../../fence/index.ts';
import { DEFAULT_CONTEXT, type OperationContext } from '../../runtime/operation-context.ts';
import { freeLater } from '../deferred-free.ts';
import { type RemoveOptions, removeLocatedFolder } from './remove-folder.ts';

export interface RemoveEntryOptions extends RemoveOptions {
  /** Called before a folder is removed; throws to refuse. */
  beforeFolder?(): void;
}

/** Removes one file, or a link itself, and returns what it was. Raises `not_found`, and `is_directory` for a folder. */
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

/**
 * Removes whatever is at a path and tells what it was: a file, a link itself, or a folder as `removeFolder` would.
 * The root is `root_itself`.
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
      using _held = freeLater(found);
      found.dir.unlink(found.name);
    }
    return { type: entryTypeOf(found.stats) };
  });
}
