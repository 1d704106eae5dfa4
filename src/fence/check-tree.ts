import type { CallerPath } from './caller-path.ts';
import type { CheckedTree, Dir } from './dir.ts';
import type { Name } from './entry.ts';
import { withLocation } from './errno.ts';
import { FenceError, isFenceError } from './errors.ts';
import { waitUntilUnlocked } from './folder-lock.ts';
import type { Refusal } from './guard/guard.ts';
import type { Place } from './guard/place.ts';

/** An entry of an open directory. */
interface DirEntry {
  readonly dir: Dir;
  readonly name: Name;
}

/** A folder whose entries are checked. */
interface CheckedFolder {
  /** Its path, for errors. */
  readonly names: string;
  /** Where it will be; undefined if it stays or is there already. */
  readonly place: Place | undefined;
  /** Whether it has just been moved, so that other processes may still be changing it where it was. */
  readonly isMoved: boolean;
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
 * nothing in this process can put such an entry there; one that another puts there is noticed when it is removed, or
 * by `confirm` after the folder was moved.
 */
export async function checkTree({ dir, name }: DirEntry, options: CheckTreeOptions): Promise<CheckedTree> {
  const { from, to, pause } = options;
  // Without the path of the entry, which may be one that does not exist for the caller.
  const refuse = (found: Refusal | undefined): void => {
    if (found !== undefined) throw new FenceError('not_allowed', found, { path: from.path.raw, root: from.root.name });
  };

  let entries = 0;

  async function check(folder: Dir, at: CheckedFolder): Promise<void> {
    const { names, place, isMoved } = at;
    // Whoever put something into it before it was moved is done then, and others find that it was moved.
    if (isMoved) await waitUntilUnlocked(folder);
    for (const { name: text, raw, type } of folder.list(true)) {
      const wait = pause();
      if (wait !== undefined) await wait;
      entries += 1;
      const isFolder = type === 'directory';
      refuse(folder.refusal(raw, { isFolder, put: isMoved }));
      refuse(place?.refusal(text, isFolder));
      if (isFolder) await checkInner(folder, raw, { names: `${names}/${text}`, place: place?.child(text), isMoved });
    }
  }

  async function checkInner(parent: Dir, raw: Name, at: CheckedFolder): Promise<void> {
    try {
      await withLocation(from.root, { raw: at.names }, async () => {
        using folder = parent.openDir(raw);
        await check(folder, at);
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
    const at = { names: from.path.raw, place, isMoved: false };
    if (options.count || dir.hasRules || target.dir.hasRules) await check(top, at);
    const { dev = 0, ino = 0 } = top.lstat('.') ?? {};
    const confirm = async (): Promise<void> => {
      if (to === undefined || !place?.mayRefuseMoreThan(dir.placeOf(name))) return;
      using moved = to.dir.openDir(to.name);
      await check(moved, { names: from.path.raw, place: undefined, isMoved: true });
    };
    const elsewhere = (other: Dir, otherName: Name): CheckedTree => ({ ...checked, to: other, toName: otherName });
    const end = { to: target.dir, toName: target.name };
    const checked: CheckedTree = { dev, ino, entries, ...end, confirm, elsewhere, [Symbol.dispose]: dispose };
    return checked;
  } catch (error) {
    dispose();
    throw error;
  }
}
