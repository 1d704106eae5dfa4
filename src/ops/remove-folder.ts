import { isCode, RingfenceError } from '../errors.ts';
import type { CallerPath, Dir, Name, Root } from '../fence/index.ts';
import { type Control, pacer } from './control.ts';
import { located } from './located.ts';

/**
 * Removes a folder and all in it, links themselves rather than what they lead to. A link to a folder is
 * `not_directory`, the root is `root_itself`. Stopped half-way, what is gone is gone.
 */
export async function removeFolder(root: Root, path: CallerPath, control: Control): Promise<{ entries: number }> {
  return located(root, path, async () => {
    using found = root.locate(path, { follow: false });
    if (found.name === '.') throw new RingfenceError('root_itself', { action: 'remove' });
    if (found.stats === undefined) throw new RingfenceError('not_found', {});
    if (!found.stats.isDirectory()) throw new RingfenceError('not_directory', {});
    return { entries: await removeTree(found.dir, found.name, control) };
  });
}

/** Removes a folder by its name in an open one, entering every level by descriptor. Returns how many entries went. */
export async function removeTree(parent: Dir, name: Name, control: Control): Promise<number> {
  const pause = pacer(control);
  let removed = 0;

  async function empty(dir: Dir): Promise<void> {
    for (const entry of dir.list(true)) {
      await pause();
      if (entry.type === 'directory') await removeInner(dir, entry.raw);
      else ignoreMissing(() => dir.unlink(entry.raw));
      removed += 1;
      control.progress(removed);
    }
  }

  async function removeInner(dir: Dir, inner: Name): Promise<void> {
    {
      using child = dir.openDir(inner);
      await empty(child);
    }
    ignoreMissing(() => dir.rmdir(inner));
  }

  await removeInner(parent, name);
  return removed + 1;
}

function ignoreMissing(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    if (!isCode(error, 'not_found')) throw error;
  }
}
