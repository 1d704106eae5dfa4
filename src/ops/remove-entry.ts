import { RingfenceError } from '../errors.ts';
import type { CallerPath, Root } from '../fence/index.ts';
import { located } from './located.ts';

export interface RemoveEntryOptions {
  /** Called before a folder is removed; throws to refuse. */
  beforeFolder?(): void;
}

/** Removes a file, a link itself, or a folder with nothing in it, hidden entries included (`not_empty`). */
export async function removeEntry(
  root: Root,
  path: CallerPath,
  { beforeFolder }: RemoveEntryOptions = {},
): Promise<void> {
  return located(root, path, () => {
    using found = root.locate(path, { follow: false });
    if (found.name === '.') throw new RingfenceError('root_itself', { action: 'remove' });
    if (found.stats === undefined) throw new RingfenceError('not_found', {});
    if (!found.stats.isDirectory()) return found.dir.unlink(found.name);
    beforeFolder?.();
    return found.dir.rmdir(found.name);
  });
}
