import {
  type CallerPath,
  type Dir,
  type Entry,
  FenceError,
  isFenceError,
  isLeftover,
  isTemporaryName,
  type Location,
  type Name,
  type Root,
  withLocation,
} from '../../fence/index.ts';
import { DEFAULT_CONTEXT, type OperationContext, yieldPoint } from '../../runtime/operation-context.ts';
import { freeLater } from '../deferred-free.ts';
import { FileError } from '../errors.ts';

export interface RemoveOptions {
  /** Remove what is in a folder too (the default); otherwise a folder that is not empty is `not_empty`. */
  readonly recursive?: boolean;
  /** Go on past what cannot be removed, and raise the first such failure only when all else is gone. */
  readonly keepGoing?: boolean;
}

/**
 * Removes a folder and all in it, links themselves rather than what they lead to. A link to a folder is
 * `not_directory`, the root is `root_itself`. Stopped half-way, what is gone is gone.
 */
export async function removeFolder(
  root: Root,
  path: CallerPath,
  options: RemoveOptions = {},
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<{ entries: number }> {
  return withLocation(root, path, async () => {
    using found = root.locate(path, { follow: false });
    if (found.stats === undefined) throw new FenceError('not_found', {});
    if (!found.stats.isDirectory()) throw new FenceError('not_directory', {});
    return { entries: await removeLocatedFolder(found, options, context) };
  });
}

/** Removes a folder where it was found, as `removeFolder` does. Returns how many entries went. */
export async function removeLocatedFolder(
  { dir, name }: Location,
  { recursive = true, keepGoing = false }: RemoveOptions,
  context: OperationContext,
): Promise<number> {
  if (name === '.') throw new FileError('root_itself', { action: 'remove' });
  if (recursive) return removeTree({ dir, name }, { keepGoing }, context);
  await sweepFolder(dir, name);
  dir.rmdir(name);
  return 1;
}

/** What a killed process left is never listed, so it must not make a folder that looks empty count as full. */
async function sweepFolder(parent: Dir, name: Name): Promise<void> {
  using dir = parent.openDir(name);
  for (const entry of dir.list(true)) if (!(await removeIfLeftover(dir, entry))) return;
}

/** Removes an entry if it is what a killed process left. Tells whether it was. */
export async function removeIfLeftover(dir: Dir, { name, raw }: Entry): Promise<boolean> {
  const stats = isTemporaryName(name) ? dir.lstat(raw) : undefined;
  if (stats === undefined || !isLeftover(name, stats)) return false;
  if (stats.isDirectory()) await discardTree(dir, raw);
  else dir.unlink(raw);
  return true;
}

/** Removes a copy that was not finished. Its folders already have the modes of the source, which may forbid it even to us. */
export async function discardTree(dir: Dir, name: Name): Promise<void> {
  await removeTree({ dir, name }, { unlock: true }, DEFAULT_CONTEXT);
}

interface TreeOptions extends Pick<RemoveOptions, 'keepGoing'> {
  /** Make folders writable before they are emptied. */
  readonly unlock?: boolean;
}

/** Removes a folder by its name in an open one, entering every level by descriptor. Returns how many entries went. */
export async function removeTree(
  { dir: parent, name }: { readonly dir: Dir; readonly name: Name },
  { keepGoing = false, unlock = false }: TreeOptions,
  context: OperationContext,
): Promise<number> {
  const pause = yieldPoint(context);
  let removed = 0;
  let failure: unknown;

  async function empty(dir: Dir): Promise<void> {
    for (const entry of dir.list(true)) {
      const wait = pause();
      if (wait !== undefined) await wait;
      try {
        if (entry.type === 'directory') await removeInner(dir, entry.raw);
        else removeFile(dir, entry.raw);
        removed += 1;
      } catch (error) {
        if (!keepGoing || context.signal.aborted) throw error;
        failure ??= error;
      }
      context.progress?.(removed);
    }
  }

  async function removeInner(dir: Dir, inner: Name): Promise<void> {
    if (unlock) ignoreMissing(() => dir.chmod(inner, 0o700));
    {
      using child = ignoreMissing(() => dir.openDir(inner));
      if (child !== undefined) await empty(child);
    }
    ignoreMissing(() => dir.rmdir(inner));
  }

  try {
    await removeInner(parent, name);
  } catch (error) {
    // A folder that could not be emptied is not what went wrong first.
    throw isFenceError(error, 'not_empty') ? (failure ?? error) : error;
  }
  return removed + 1;
}

function removeFile(dir: Dir, name: Name): void {
  using _held = freeLater({ dir, name, stats: dir.statLite(name) });
  ignoreMissing(() => dir.unlink(name));
}

/** Undefined if somebody else removed the entry meanwhile, which is as good. */
function ignoreMissing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!isFenceError(error, 'not_found')) throw error;
    return undefined;
  }
}
