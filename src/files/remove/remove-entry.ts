import { RingfenceError } from '../../errors.ts';
import { type CallerPath, type EntryType, type Root, typeOf } from '../../fence/index.ts';
import type { Control } from '../../runtime/operation-context.ts';
import { holdLarge } from '../free-later.ts';
import { located } from '../located.ts';
import { type RemoveOptions, removeFoundFolder } from './remove-folder.ts';

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
  control: Control,
): Promise<{ type: EntryType }> {
  return located(root, path, async () => {
    using found = root.locate(path, { follow: false });
    if (found.stats === undefined) throw new RingfenceError('not_found', {});
    if (found.stats.isDirectory()) {
      beforeFolder?.();
      await removeFoundFolder(found, options, control);
    } else {
      using _held = holdLarge(found);
      found.dir.unlink(found.name);
    }
    return { type: typeOf(found.stats) };
  });
}
