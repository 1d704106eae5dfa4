import {
  type CallerPath,
  type EntryType,
  entryTypeOf,
  FenceError,
  type Location,
  lockFolder,
  type Root,
  withLocation,
} from '../../fence/index.ts';
import { changeIn } from '../../history/index.ts';
import { DEFAULT_CONTEXT, type OperationContext } from '../../runtime/operation-context.ts';
import { deferFree } from '../deferred-free.ts';
import { awaitLatest } from '../lease/await-latest.ts';
import { leaseEntries } from '../lease/lease-entries.ts';
import { type ChangeAttempt, retryChange } from '../lease/retry-change.ts';
import { assertVersion, expectedVersion, mismatch } from '../write/if-match.ts';
import { type RemoveOptions, removeLocatedFolder } from './remove-folder.ts';
import { removeIfAsBefore } from './remove-if-as-before.ts';

/** Options of `removeEntry`. */
export interface RemoveEntryOptions extends RemoveOptions {
  /** Called before a folder is removed. It refuses the removal by throwing. */
  beforeFolder?(): void;
}

/** Options of `removeFile`. */
export interface RemoveFileOptions {
  /** Flush to disk before returning (the default). */
  readonly durable?: boolean;
  /**
   * Remove only if it is still this file: a version, or `sha256:` and the hash of the content. For a link, its own
   * version.
   */
  readonly ifMatch?: string | undefined;
}

/**
 * Removes a file or a link itself, and returns its type. Raises `not_found`, `is_directory`, `version_mismatch` if it
 * is not that of `ifMatch`, and what `Root.locate` raises. In a root that other machines change, too, also what
 * `leaseEntries` raises; without `ifMatch`, the file is removed without a lease where none can be had.
 */
export async function removeFile(
  root: Root,
  path: CallerPath,
  { durable = true, ifMatch }: RemoveFileOptions = {},
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<{ type: EntryType }> {
  const remove = async (attempt: ChangeAttempt): Promise<{ type: EntryType }> => {
    await awaitLatest(root, path, { signal: context.signal, follow: false });
    using found = root.locate(path, { follow: false });
    if (found.stats === undefined) throw new FenceError('not_found', {});
    if (found.stats.isDirectory()) throw new FenceError('is_directory', {});
    const expected = ifMatch && (await expectedVersion(ifMatch, { root, ...found, context }));
    await unlinkLocked({ root, at: found, durable, expected, attempt }, context);
    if (durable) await found.dir.sync();
    return { type: entryTypeOf(found.stats) };
  };
  return withLocation(root, path, () => retryChange([root], context.signal, remove));
}

/**
 * Unlinks an entry under a lease on it, or while its folder is locked, so that an edit under way in another process
 * does not bring it back.
 */
async function unlinkLocked(job: UnlinkJob, { caller, signal }: OperationContext): Promise<void> {
  const { root, at, durable, expected, attempt } = job;
  const { dir, name } = at;
  // Without a condition, nothing is lost that would not be removed anyway.
  await using leases = await leaseEntries([{ root, at }], { attempt, signal, optional: expected === undefined });
  const change = changeIn(root, caller);
  using _held = change === undefined ? deferFree(at) : undefined;
  await leases.confirm();
  using _lock = leases.areComplete ? undefined : await lockFolder(dir);
  const now = dir.lstat(name);
  if (expected !== undefined) assertVersion(now, expected);
  const unlink = (): void => dir.unlink(name);
  await leases.change<unknown>(async () => {
    // A root with history has no leases.
    if (change !== undefined) await change.remove(at, { durable, discard: unlink });
    else if (expected === undefined || !leases.areComplete) unlink();
    else if (!(await removeIfAsBefore({ dir, name, before: now }))) throw mismatch(expected, dir.lstat(name));
  });
}

interface UnlinkJob {
  readonly root: Root;
  readonly at: Location;
  readonly durable: boolean;
  readonly expected?: string | undefined;
  readonly attempt: ChangeAttempt;
}

/**
 * Removes the entry at a path and returns its type: a file, a link itself, or a folder as `removeFolder` does. Raises
 * `not_found`, `version_mismatch`, and for a folder what `removeFolder` and `beforeFolder` raise. In a root that other
 * machines change, too, also what `leaseEntries` raises.
 */
export async function removeEntry(
  root: Root,
  path: CallerPath,
  { beforeFolder, ...options }: RemoveEntryOptions = {},
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<{ type: EntryType }> {
  const remove = async (attempt: ChangeAttempt): Promise<{ type: EntryType }> => {
    await awaitLatest(root, path, { signal: context.signal, follow: false });
    using found = root.locate(path, { follow: false });
    if (found.stats === undefined) throw new FenceError('not_found', {});
    const { ifMatch } = options;
    if (ifMatch !== undefined) assertVersion(found.stats, ifMatch);
    if (found.stats.isDirectory()) {
      beforeFolder?.();
      await removeLocatedFolder({ root, path, at: found, attempt }, options, context);
    } else {
      const { durable = true } = options;
      await unlinkLocked({ root, at: found, durable, expected: ifMatch, attempt }, context);
      if (durable) await found.dir.sync();
    }
    return { type: entryTypeOf(found.stats) };
  };
  return withLocation(root, path, () => retryChange([root], context.signal, remove));
}
