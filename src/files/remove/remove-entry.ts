import {
  type CallerPath,
  type EntryType,
  entryTypeOf,
  FenceError,
  type Root,
  withLocation,
} from '../../fence/index.ts';
import type { OperationContext } from '../../runtime/operation-context.ts';
import { freeLater } from '../free-later.ts';
import { type RemoveOptions, removeLocatedFolder } from './remove-folder.ts';

export interface RemoveEntryOptions extends RemoveOptions {
  /** Called before a folder is removed; throws to refuse. */
  beforeFolder?(): void;
}

/**
 * Removes whatever is at a path and tells what it was: a file, a link itself, or a folder as `removeFolder` would.
 * The root is `root_itself`.
 */
export async function removeEntry(
  root: Root,
  path: CallerPath,
  { beforeFolder, ...options }: RemoveEntryOptions,
  context: OperationContext,
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
