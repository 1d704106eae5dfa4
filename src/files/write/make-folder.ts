import {
  type CallerPath,
  FenceError,
  isFenceError,
  type Location,
  type Root,
  withLocation,
} from '../../fence/index.ts';
import { type Change, changeIn } from '../../history/index.ts';
import { DEFAULT_CONTEXT, type OperationContext } from '../../runtime/operation-context.ts';
import { type ChangeAttempt, retryChange } from '../lease/retry-change.ts';
import { syncEntry } from './replace-file.ts';

/** Options of `makeFolder`. */
export interface MakeFolderOptions {
  /** Flush to disk before returning (the default). */
  readonly durable?: boolean;
  /** Create missing parent folders (the default). */
  readonly makeParents?: boolean;
}

/**
 * Creates a folder and, unless `makeParents` is false, its missing parents. `created` is false if the folder already
 * exists. Raises `already_exists` if something else is there, and what `Root.locate` raises.
 */
export async function makeFolder(
  root: Root,
  path: CallerPath,
  { durable = true, makeParents = true }: MakeFolderOptions = {},
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<{ created: boolean }> {
  const make = async ({ onLanded }: ChangeAttempt): Promise<{ created: boolean }> => {
    const change = changeIn(root, context.caller);
    using location = root.locate(path, { follow: true, makeParents, onMake: change?.onMake });
    const created = location.stats === undefined && makeUnlessPresent(location, change, onLanded);
    const stats = location.stats ?? location.dir.lstat(location.name);
    if (!stats?.isDirectory()) throw new FenceError('already_exists', {});
    // One that another call has made since may not be on disk yet either.
    if (durable && location.stats === undefined) await syncEntry(location);
    return { created };
  };
  return withLocation(root, path, () => retryChange([root], context.signal, make));
}

/** Creates a folder unless something has its name by now, and reports whether it did. */
function makeUnlessPresent({ dir, name, path }: Location, change: Change | undefined, onLanded: () => void): boolean {
  dir.assertMayPut(name, true);
  const step = change?.onMake(path);
  onLanded();
  try {
    dir.mkdir(name);
    step?.done(dir.lstat(name));
    return true;
  } catch (error) {
    step?.cancel();
    if (!isFenceError(error, 'already_exists')) throw error;
    return false;
  }
}
