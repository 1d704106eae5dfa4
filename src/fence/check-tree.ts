import type { CallerPath } from './caller-path.ts';
import type { CheckedTree, Dir } from './dir.ts';
import type { Name } from './entry.ts';
import { withLocation } from './errno.ts';
import { FenceError, isFenceError } from './errors.ts';
import type { Refusal } from './guard/guard.ts';
import type { Place } from './guard/place.ts';

/** An entry of an open directory. */
interface DirEntry {
  readonly dir: Dir;
  readonly name: Name;
}

/** Options of `checkTree`. */
interface CheckTreeOptions {
  /** The folder as the caller wrote it, for errors. */
  readonly from: { readonly root: { readonly name: string }; readonly path: Pick<CallerPath, 'raw'> };
  /** Where the folder will be moved; undefined if it is removed. */
  readonly to?: DirEntry | undefined;
  /** Look through the folder also if nothing is ruled out, for the number of its entries. */
  readonly count?: boolean;
  /** Yields to other work if the time slice is over. */
  pause(): Promise<void> | undefined;
}

/**
 * Checks that a folder may be moved or removed with everything in it: nothing in it is denied or protected, neither
 * where it is nor where it goes. Raises `not_allowed`, and what listing raises. Until the result is disposed of,
 * nothing in this process can put such an entry there; one that another puts there is noticed when it is removed, but
 * moves along with its folder.
 */
export async function checkTree({ dir, name }: DirEntry, options: CheckTreeOptions): Promise<CheckedTree> {
  const { from, to, pause } = options;
  // Without the path of the entry, which may be one that does not exist for the caller.
  const refuse = (found: Refusal | undefined): void => {
    if (found !== undefined) throw new FenceError('not_allowed', found, { path: from.path.raw, root: from.root.name });
  };

  let entries = 0;

  async function check(folder: Dir, names: string, place: Place | undefined): Promise<void> {
    for (const { name: text, raw, type } of folder.list(true)) {
      const wait = pause();
      if (wait !== undefined) await wait;
      entries += 1;
      const isFolder = type === 'directory';
      refuse(folder.refusal(raw, { isFolder }));
      refuse(place?.refusal(text, isFolder));
      if (isFolder) await checkInner(folder, raw, { names: `${names}/${text}`, place: place?.child(text) });
    }
  }

  async function checkInner(parent: Dir, raw: Name, at: { names: string; place: Place | undefined }): Promise<void> {
    try {
      await withLocation(from.root, { raw: at.names }, async () => {
        using folder = parent.openDir(raw);
        await check(folder, at.names, at.place);
      });
    } catch (error) {
      // Removed or replaced meanwhile.
      if (!isFenceError(error, 'not_found', 'not_directory')) throw error;
    }
  }

  const target = to ?? { dir, name };
  const place = to?.dir.placeOf(to.name);
  // Before the first entry is looked at, so that none can be put behind it.
  const announced = place && dir.placeOf(name).announceMove(place);
  const dispose = (): void => announced?.[Symbol.dispose]();
  try {
    using top = dir.openDir(name);
    if (options.count || dir.hasRules || target.dir.hasRules) await check(top, from.path.raw, place);
    const { dev = 0, ino = 0 } = top.lstat('.') ?? {};
    return { dev, ino, entries, to: target.dir, toName: target.name, [Symbol.dispose]: dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}
