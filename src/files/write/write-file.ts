import type { Stats } from 'node:fs';
import { type CallerPath, FenceError, isFenceError, isTransient, type Root, withLocation } from '../../fence/index.ts';
import { changeIn } from '../../history/index.ts';
import { DEFAULT_CONTEXT, type OperationContext } from '../../runtime/operation-context.ts';
import { awaitLatest } from '../lease/await-latest.ts';
import { leasesOf } from '../lease/leases.ts';
import type { ChangeAttempt } from '../lease/retry-change.ts';
import { refreshed } from '../lease/see-latest.ts';
import { isReplaced } from '../lease/stamp.ts';
import { withLease } from '../lease/with-lease.ts';
import { appendFile } from './append-file.ts';
import { ABSENT, expectedVersion, locateToMatch } from './if-match.ts';
import { replaceFile } from './replace-file.ts';

/** How `writeFile` treats an existing file. */
export const WRITE_MODES = ['overwrite', 'append', 'create_only'] as const;
/** A mode of `writeFile`. */
export type WriteMode = (typeof WRITE_MODES)[number];

/** Options of `writeFile`. */
export interface WriteOptions {
  /** How an existing file is treated; by default `overwrite`. */
  readonly mode?: WriteMode;
  /** Flush to disk before returning (the default). */
  readonly durable?: boolean;
  /** Create missing parent folders (the default). */
  readonly makeParents?: boolean;
  /** Make new files and folders for their owner alone, with the modes 0600 and 0700. False by default. */
  readonly isPrivate?: boolean;
  /** Write only if the file is still this one: a version, `sha256:` and the hash of the content, or `absent`. */
  readonly ifMatch?: string | undefined;
}

/**
 * Writes a file, following links that stay inside the root, and returns its new stats. Overwriting and creating are
 * atomic; an append is whole or undone (`appendFile`). Neither loses what another process of this program does to the
 * file at the same time.
 *
 * Raises `is_directory`; with `create_only`, `already_exists` for any existing entry, a dangling link included;
 * `disk_full` for an incomplete append; `version_mismatch`, with nothing changed, if the file is not that of `ifMatch`;
 * and what `replaceFile` and `Root.locate` raise. In a root that other machines change, too, also what `withLease`
 * raises; overwriting and creating go on without a lease where none can be had, unless `ifMatch` is a version.
 */
export async function writeFile(
  root: Root,
  path: CallerPath,
  bytes: Buffer,
  options: WriteOptions = {},
  context: OperationContext = DEFAULT_CONTEXT,
): Promise<Stats> {
  const { mode = 'overwrite', durable = true, makeParents = true, isPrivate = false, ifMatch } = options;
  return withLocation(root, path, async () => {
    if (path.segments.length === 0) throw new FenceError('is_directory', {});
    if (mode === 'create_only') {
      await assertNoLatestEntry(root, path, context.signal);
    }
    const change = changeIn(root, context.caller);
    const resolve = { follow: mode !== 'create_only', makeParents, isPrivate, onMake: change?.onMake };
    const locate = () =>
      ifMatch === undefined ? root.locate(path, resolve) : locateToMatch(root, path, ifMatch, resolve);
    const write = async ({ lease, onLanded }: ChangeAttempt): Promise<Stats> => {
      using location = locate();
      if (location.stats?.isDirectory()) throw new FenceError('is_directory', {});
      const expected = ifMatch && (await expectedVersion(ifMatch, { root, ...location, context }));
      const options = { durable, expected, lease, onLanded };
      if (mode === 'append') return await appendFile(root, location, bytes, options, context);
      return await replaceFile(location, bytes, {
        ...options,
        change,
        over: mode === 'create_only' ? 'nothing' : 'anything',
        ...(isPrivate && location.stats === undefined && { mode: 0o600 }),
      });
    };
    // That nothing is there is known at the moment of the change; that a file is unchanged, only under a lease.
    const optional = mode !== 'append' && (ifMatch === undefined || ifMatch === ABSENT);
    return await withLease({ root, names: path.segments, locate }, { signal: context.signal, optional }, write);
  });
}

/**
 * Raises `already_exists` for an entry that the disks have, too, where other machines may have removed or moved it.
 * What the disks answer otherwise is left to the write, which looks again under its lease.
 */
async function assertNoLatestEntry(root: Root, path: CallerPath, signal: AbortSignal): Promise<void> {
  try {
    await awaitLatest(root, path, { signal, follow: false });
    if (leasesOf(root)?.isShared(root)) {
      using found = root.locate(path, { follow: false });
      const now = refreshed(found);
      if (now === undefined || isReplaced(now)) return;
    }
    assertNoEntry(root, path);
  } catch (error) {
    if (isFenceError(error, 'not_found') || isTransient(error)) return;
    throw error;
  }
}

/** Raises `already_exists` if there is an entry at the path, or `outside_root` if it is a link that leads outside. */
export function assertNoEntry(root: Root, path: CallerPath): void {
  try {
    using found = root.locate(path, { follow: false });
    if (found.stats === undefined) return;
    if (found.stats.isSymbolicLink()) root.locate(path, { follow: true })[Symbol.dispose]();
  } catch (error) {
    if (isFenceError(error, 'not_found')) return;
    throw error;
  }
  throw new FenceError('already_exists', {});
}
